import { EyrieError } from '@eyrie/contract'

/** The mark of a weak entity tag. A proxy that compresses a response adds it to the tag. */
const WEAK_PREFIX = /^W\//

/**
 * Throws `EyrieError` (`precondition`) if the header `If-Match` (RFC 9110, section 13.1.1) is
 * present and does not match.
 */
export function assertIfMatch(ifMatch: string | undefined, etag: string): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return
  if (ifMatch.split(',').some(tag => tag.trim().replace(WEAK_PREFIX, '') === etag)) return
  throw new EyrieError(
    'precondition',
    `the resource was changed in the meantime and its ETag is now ${etag}: read it again`,
  )
}
