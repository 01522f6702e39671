import { createHmac } from 'node:crypto'
import { EyrieError } from '@eyrie/contract'
import { canonicalJson } from './entity-identity.ts'

/** A resource as the API returns it, with the entity tag of the stored resource. */
export interface Tagged<T> {
  value: T
  etag: string
}

/** The entity tag of a stored value. It depends on secrets too, but does not reveal them. */
export function computeEtag(tagKey: string, stored: unknown): string {
  const digest = createHmac('sha256', tagKey).update(canonicalJson(stored)).digest('base64url')
  return `"${digest.slice(0, 22)}"`
}

/** Throws `EyrieError` (`precondition`) if there is an `If-Match` header (RFC 9110) that does not match the tag. */
export function assertIfMatch(ifMatch: string | undefined, etag: string): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  if (ifMatch.split(',').some(tag => tag.trim() === etag)) return
  throw new EyrieError(
    'precondition',
    `it has changed in the meantime and its ETag is now ${etag}: read it again`,
  )
}
