import { createHmac } from 'node:crypto'
import { EyrieError } from '@eyrie/contract'
import { canonical } from './entity-identity.ts'

/** A resource as it may be shown, with the tag of what is stored. */
export interface Tagged<T> {
  value: T
  etag: string
}

/** The tag of a stored value. It changes with a hidden password too, but tells nothing about it. */
export function etagOf(tagKey: string, stored: unknown): string {
  return `"${createHmac('sha256', tagKey).update(canonical(stored)).digest('base64url').slice(0, 22)}"`
}

/** Throws EyrieError `precondition` unless an `If-Match` header (RFC 9110) names the tag, or is absent. */
export function requireMatch(ifMatch: string | undefined, etag: string): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  if (ifMatch.split(',').some(tag => tag.trim() === etag)) return
  throw new EyrieError('precondition', `it has changed meanwhile, and its tag is ${etag} now: read it again`)
}
