import type { GstError } from '../node-gst/index.ts'

/** Video of any kind, as caps: keeps sound and subtitles away. */
export const ANY_VIDEO = [
  'video/x-h264',
  'video/x-h265',
  'video/x-vp8',
  'video/x-vp9',
  'video/x-av1',
  'video/mpeg,systemstream=false',
  'video/x-h263',
  'video/x-theora',
  'image/jpeg',
  'video/x-raw',
]

/** GStreamer's ways of saying that nothing in the source fits what the pipeline goes on with. */
export function isLinkFailure(error: GstError): boolean {
  return error.message.startsWith('Delayed linking failed') || /reason not-linked/.test(error.debug ?? '')
}
