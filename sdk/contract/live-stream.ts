import { z } from 'zod'

/**
 * Live streams: what a client requests, and what the media service sends first over a WebSocket.
 */

/**
 * A codec that the client of a live stream can play. Every client must be able to play H.264:
 * video in a codec that the client cannot play is transcoded to H.264. Without `aac`, the
 * stream contains no audio.
 */
export const playableCodec = z.enum(['h264', 'h265', 'aac'])
export type PlayableCodec = z.infer<typeof playableCodec>

/** Query parameter `codecs`, as in `?codecs=h264,h265,aac`. */
export const playableCodecs = z
  .string()
  .default('h264')
  .transform(list => list.split(','))
  .pipe(z.array(playableCodec))

/**
 * Query parameter `size` of live views and snapshots. `small`: the sub stream of a source that has
 * one, otherwise the only stream.
 */
export const streamSize = z.enum(['full', 'small'])
export type StreamSize = z.infer<typeof streamSize>

/**
 * First message of `/streams/{id}/ws`. The initialization segment and the fragments of the
 * fragmented MP4 follow as binary messages.
 */
export const streamInfo = z.strictObject({
  /** Codecs of the stream as in RFC 6381, such as `avc1.640028,mp4a.40.2`. */
  codecs: z.string(),
  width: z.int(),
  height: z.int(),
  /**
   * Identifies the current run of the media service, from its start to its end. Stream time
   * starts anew in each run.
   */
  epoch: z.int(),
})
export type StreamInfo = z.infer<typeof streamInfo>
