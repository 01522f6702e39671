import type { GstError } from '../node-gst/index.ts'

/** Caps of any video codec, which exclude sound and subtitles. */
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

/** Whether GStreamer could not link the source because it offers no stream that the pipeline accepts. */
export function isLinkFailure(error: GstError): boolean {
  return error.message.startsWith('Delayed linking failed') || /reason not-linked/.test(error.debug ?? '')
}
