import { createHmac } from 'node:crypto'
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
