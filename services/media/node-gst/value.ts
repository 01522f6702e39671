export interface Fraction {
  numerator: number
  denominator: number
}

/**
 * A GStreamer value in JavaScript: 64-bit integers become numbers (exact up to 2^53), enums and flags their
 * nicknames, buffers a copy of their bytes, and whatever has no counterpart GStreamer's own serialisation.
 */
export type Value = string | number | boolean | null | Fraction | Uint8Array | Value[]

/** Fixed caps: `caps.fields.width`, `caps.fields.codec_data`. */
export interface Caps {
  /** The media type: `video/x-raw`, `video/x-h264`. */
  name: string
  fields: Record<string, Value>
  /** The whole in GStreamer's notation. */
  text: string
}
