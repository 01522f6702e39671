import type { GstError } from '../node-gst/index.ts'

/**
 * Caps (GStreamer's descriptions of formats) that match every video codec, but no sound or
 * subtitles.
 */
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

/** Whether an error means that the source offers no stream that the pipeline accepts. */
export function isLinkFailure(error: GstError): boolean {
  return (
    error.message.startsWith('Delayed linking failed') ||
    /reason not-linked/.test(error.debug ?? '')
  )
}

/**
 * Whether two elements could not agree on a format. GStreamer reports every failure of the data
 * flow as GST_STREAM_ERROR_FAILED. Only the debug text contains the reason.
 */
export function isNotNegotiated({ debug }: GstError): boolean {
  return /reason not-negotiated/.test(debug ?? '')
}
