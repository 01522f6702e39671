export interface Fraction {
  numerator: number
  denominator: number
}

/**
 * A GStreamer value in JavaScript: 64-bit integers are numbers (exact up to 2^53), enums and flags are nicknames, buffers are
 * copies of their bytes, and types without a counterpart are in GStreamer's serialization.
 */
export type Value = string | number | boolean | null | Fraction | Uint8Array | Value[]

/** Fixed caps: `caps.fields.width`, `caps.fields.codec_data`. */
export interface Caps {
  /** The media type: `video/x-raw`, `video/x-h264`. */
  name: string
  fields: Record<string, Value>
  /** The caps in GStreamer's notation. */
  text: string
}
