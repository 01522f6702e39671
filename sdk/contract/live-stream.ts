import { z } from 'zod'

/**
 * What a client of a live view says that it plays: `?codecs=h264,h265,aac`. H.264 always, since all else can become that;
 * `aac`: it wants the sound, too, where the source has any.
 */
export const playableCodec = z.enum(['h264', 'h265', 'aac'])
export const playableCodecs = z
  .string()
  .default('h264')
  .transform(list => list.split(','))
  .pipe(z.array(playableCodec))
export type PlayableCodec = z.infer<typeof playableCodec>

/** First message of `/streams/{id}/ws`; init segment and fragments follow as binary messages. */
export const streamInfo = z.strictObject({
  codecs: z.string(),
  width: z.int(),
  height: z.int(),
  epoch: z.int(),
})
export type StreamInfo = z.infer<typeof streamInfo>
