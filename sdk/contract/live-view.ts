import { z } from 'zod'

/**
 * What a client of a live view says that it plays: `?codecs=h264,h265,aac`. H.264 always, since all else can become that;
 * `aac`: it wants the sound, too, where the source has any.
 */
export const playedCodec = z.enum(['h264', 'h265', 'aac'])
export const playedCodecs = z
  .string()
  .default('h264')
  .transform(list => list.split(','))
  .pipe(z.array(playedCodec))
export type PlayedCodec = z.infer<typeof playedCodec>

/** First message of `/streams/{id}/ws`; init segment and fragments follow as binary messages. */
export const streamInfo = z.strictObject({
  codecs: z.string(),
  width: z.int(),
  height: z.int(),
  epoch: z.int(),
})
export type StreamInfo = z.infer<typeof streamInfo>
