/**
 * Elementary functions that give the same bits on every machine and every JavaScript engine: only
 * + - * / and Math.sqrt, floor, min, max, abs, round and imul, which IEEE 754 and ECMAScript pin down.
 */
export const PI = Math.PI
export const TAU = 6.283185307179586

/** Sine by its Taylor series to the eleventh power after folding into ±π/2; good to 6e-8. */
export function sin(x: number): number {
  x = x - TAU * Math.floor(x / TAU + 0.5)
  if (x > PI / 2) x = PI - x
  else if (x < -PI / 2) x = -PI - x
  const s = x * x
  return x * (1 + s * (-1 / 6 + s * (1 / 120 + s * (-1 / 5040 + s * (1 / 362880 - s / 39916800)))))
}

export const cos = (x: number): number => sin(x + PI / 2)
export const tan = (x: number): number => sin(x) / cos(x)
export const square = (x: number): number => x * x
export const hypot = (x: number, y: number): number => Math.sqrt(x * x + y * y)

export const clamp = (x: number, low: number, high: number): number => (x < low ? low : Math.min(x, high))

/** Remainder that is never negative. */
export const modulo = (x: number, period: number): number => ((x % period) + period) % period

export function smoothstep(from: number, to: number, x: number): number {
  const t = clamp((x - from) / (to - from), 0, 1)
  return t * t * (3 - 2 * t)
}
