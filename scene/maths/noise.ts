/** Returns a pseudo-random number in [0, 1) for a lattice point and a salt. */
export function hash(x: number, y: number, salt: number): number {
  let h = (Math.imul(x, 374761393) + Math.imul(y, 668265263) + Math.imul(salt, 2147483589)) | 0
  h = Math.imul(h ^ (h >>> 13), 1274126177)
  h = h ^ (h >>> 16)
  h = Math.imul(h, 2246822519 | 0)
  h ^= h >>> 15
  return (h >>> 0) / 4294967296
}

/** Value noise in [0, 1): smooth interpolation between hashed lattice points. */
export function valueNoise(x: number, y: number, salt: number): number {
  const ix = Math.floor(x)
  const iy = Math.floor(y)
  let fx = x - ix
  let fy = y - iy
  fx = fx * fx * (3 - 2 * fx)
  fy = fy * fy * (3 - 2 * fy)
  const a = hash(ix, iy, salt)
  const b = hash(ix + 1, iy, salt)
  const c = hash(ix, iy + 1, salt)
  const d = hash(ix + 1, iy + 1, salt)
  return a + (b - a) * fx + (c - a) * fy + (a - b - c + d) * fx * fy
}

/** Fractal noise in [0, 1): octaves of value noise with doubled frequency and halved amplitude. */
export function fractalNoise(x: number, y: number, salt: number, octaves: number): number {
  let sum = 0
  let amplitude = 0.5
  for (let i = 0; i < octaves; i++) {
    sum += amplitude * valueNoise(x, y, salt + i)
    x *= 2.03
    y *= 2.03
    amplitude *= 0.5
  }
  return sum
}
