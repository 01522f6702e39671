/** A colour in linear RGB. 1 is white paper in full ambient light. */
export type Rgb = readonly [number, number, number]

/** Painted surfaces are less saturated than colours on a screen. */
const SATURATION = 0.8
const CURVE_STEPS_PER_UNIT = 4096
const CURVE_SIZE = 4 * CURVE_STEPS_PER_UNIT
const MAX_LIGHT = 3.99

/** Converts sRGB (0..1) to linear light with a polynomial approximation. */
const srgbToLinear = (c: number): number => c * (c * (c * 0.305306011 + 0.682171111) + 0.012522878)

/** Converts linear light (0..1) to sRGB, approximated with nested square roots. */
function linearToSrgb(c: number): number {
  if (c <= 0.0031308) return c <= 0 ? 0 : 12.92 * c
  const a = Math.sqrt(c)
  const b = Math.sqrt(a)
  const d = Math.sqrt(b)
  return 0.585122381 * a + 0.783140355 * b - 0.368262736 * d
}

/** Converts 0xrrggbb to the linear colour of a painted surface. */
export function toLinearRgb(hex: number): Rgb {
  const r = srgbToLinear(((hex >> 16) & 255) / 255)
  const g = srgbToLinear(((hex >> 8) & 255) / 255)
  const b = srgbToLinear((hex & 255) / 255)
  const grey = 0.25 * r + 0.6 * g + 0.15 * b
  return [
    grey + (r - grey) * SATURATION,
    grey + (g - grey) * SATURATION,
    grey + (b - grey) * SATURATION,
  ]
}

export const scaleColour = (c: Rgb, k: number): Rgb => [c[0] * k, c[1] * k, c[2] * k]

/**
 * Byte values of linear light from 0 to 4: the ACES filmic curve (fit by Krzysztof
 * Narkowicz), converted to sRGB.
 */
const TONE_CURVE = new Uint8Array(CURVE_SIZE).map((_, i) => {
  const c = (i / CURVE_STEPS_PER_UNIT) * 1.05
  const t = (c * (2.51 * c + 0.03)) / (c * (2.43 * c + 0.59) + 0.14)
  return Math.min(255, Math.round(255 * linearToSrgb(Math.min(1, t * 0.98))))
})

/** Converts linear light to a byte of the picture. */
export function toneMap(light: number): number {
  if (light <= 0) return TONE_CURVE[0]!
  if (light >= MAX_LIGHT) return TONE_CURVE[CURVE_SIZE - 1]!
  return TONE_CURVE[(light * CURVE_STEPS_PER_UNIT) | 0]!
}
