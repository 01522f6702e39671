import { z } from 'zod'

/**
 * The codecs that the client of a live view can play, as in `?codecs=h264,h265,aac`. Every client has to play H.264, to
 * which other codecs are transcoded. With `aac` the stream includes the audio of the source, if any.
 */
export const playableCodec = z.enum(['h264', 'h265', 'aac'])
export const playableCodecs = z
  .string()
  .default('h264')
  .transform(list => list.split(','))
  .pipe(z.array(playableCodec))
export type PlayableCodec = z.infer<typeof playableCodec>

/** First message of `/streams/{id}/ws`. The init segment and the fragments follow as binary messages. */
export const streamInfo = z.strictObject({
  codecs: z.string(),
  width: z.int(),
  height: z.int(),
  epoch: z.int(),
})
export type StreamInfo = z.infer<typeof streamInfo>
