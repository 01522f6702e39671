/**
 * Elementary functions with bit-identical results on every machine and JavaScript engine. They use
 * only operations that IEEE 754 and ECMAScript specify exactly: + - * / and Math.sqrt, floor, min,
 * max, abs, round and imul.
 */
export const PI = Math.PI
export const TAU = 6.283185307179586

/**
 * Sine of an angle in radians: the Taylor series of degree 11, after reduction to ±π/2. The
 * error is below 6e-8.
 */
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

export const clamp = (x: number, low: number, high: number): number =>
  x < low ? low : Math.min(x, high)

/** Euclidean remainder, which is never negative for a positive period. */
export const modulo = (x: number, period: number): number => ((x % period) + period) % period

/** Hermite interpolation from 0 at `from` to 1 at `to`. */
export function smoothstep(from: number, to: number, x: number): number {
  const t = clamp((x - from) / (to - from), 0, 1)
  return t * t * (3 - 2 * t)
}
