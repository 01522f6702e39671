import { createHmac } from 'node:crypto'
import { EyrieError } from '@eyrie/contract'
import { canonicalJson } from './entity-identity.ts'

/** A resource as the API returns it, with the entity tag of the stored resource. */
export interface WithEtag<T> {
  value: T
  etag: string
}

/** 22 characters of base64url hold 132 bits. */
const TAG_LENGTH = 22

/**
 * Computes the entity tag of a stored value. It changes with every secret, but does not reveal any.
 */
export function computeEtag(tagKey: string, stored: unknown): string {
  const digest = createHmac('sha256', tagKey).update(canonicalJson(stored)).digest('base64url')
  return `"${digest.slice(0, TAG_LENGTH)}"`
}

/**
 * Throws `EyrieError` (`precondition`) if the header `If-Match` (RFC 9110, section 13.1.1) is
 * present and does not match.
 */
export function assertIfMatch(ifMatch: string | undefined, etag: string): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  if (ifMatch.split(',').some(tag => tag.trim() === etag)) return
  throw new EyrieError(
    'precondition',
    `the resource was changed in the meantime and its ETag is now ${etag}: read it again`,
  )
}
