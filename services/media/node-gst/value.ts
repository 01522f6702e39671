/**
 * A GStreamer value in JavaScript. 64-bit integers become numbers (exact up to 2⁵³), enums become
 * nicknames, and buffers are copied. Other types become strings, as GStreamer serializes them.
 */
export type Value = string | number | boolean | null | Fraction | Uint8Array | Value[]

/** A GStreamer fraction, such as a frame rate of 30/1. */
export interface Fraction {
  numerator: number
  denominator: number
}

/**
 * The caps (capabilities: the media format) of a stream, with fields such as `width` and
 * `codec_data`.
 */
export interface Caps {
  /** Media type, such as `video/x-raw` or `video/x-h264`. */
  name: string
  fields: Record<string, Value>
  /** The caps in the notation of GStreamer. */
  text: string
}
