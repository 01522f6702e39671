import { EyrieError, type StreamSize, streamSize } from '@eyrie/contract'
import type { Context } from 'hono'

/**
 * Returns the stream that a viewer requests with `?size=`. Throws `EyrieError` (`syntax`)
 * for an unknown size.
 */
export function parseStreamSize(c: Context): StreamSize {
  const parsed = streamSize.default('full').safeParse(c.req.query('size'))
  if (parsed.success) return parsed.data
  throw new EyrieError('syntax', `size must be one of ${streamSize.options.join(', ')}`)
}
