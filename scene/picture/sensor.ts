import { clamp, square } from '../maths/arithmetic.ts'
import { Random } from '../maths/random.ts'

const GRAIN_TABLE_SIZE = 1 << 16

/** Simulates the camera's sensor and lens: vignetting and noise that differs in every frame. */
export class Sensor {
  readonly #seed: number
  readonly #width: number
  readonly #strength: number
  readonly #grain: Int8Array
  readonly #columnShade: Int32Array
  readonly #rowShade: Int32Array

  /** @param noise Standard deviation of the noise in byte values. */
  constructor(seed: number, width: number, height: number, noise: number) {
    const random = new Random(99)
    this.#seed = seed
    this.#width = width
    this.#strength = Math.round(noise * 16)
    this.#grain = new Int8Array(GRAIN_TABLE_SIZE).map(() =>
      clamp(Math.round(random.gaussian() * 16), -60, 60),
    )
    this.#columnShade = new Int32Array(width).map(
      (_, x) => 34 * square((x - width / 2) / (width / 2)),
    )
    this.#rowShade = new Int32Array(height).map(
      (_, y) => 26 * square((y - height / 2) / (height / 2)),
    )
  }

  /** Applies vignetting and noise to a frame in place. */
  expose(rgb: Uint8ClampedArray, frame: number): void {
    const random = new Random(this.#seed * 31 + frame * 977)
    const grain = this.#grain
    const strength = this.#strength
    let i = 0
    for (const rowShade of this.#rowShade) {
      let o = (random.next() * GRAIN_TABLE_SIZE) | 0
      for (let x = 0; x < this.#width; x++, i += 3) {
        const shade = 256 - this.#columnShade[x]! - rowShade
        const luma = (grain[o++ & (GRAIN_TABLE_SIZE - 1)]! * strength) >> 8
        const chroma = (grain[(o + 7777) & (GRAIN_TABLE_SIZE - 1)]! * strength) >> 10
        rgb[i] = ((rgb[i]! * shade) >> 8) + luma + chroma
        rgb[i + 1] = ((rgb[i + 1]! * shade) >> 8) + luma
        rgb[i + 2] = ((rgb[i + 2]! * shade) >> 8) + luma - chroma
      }
    }
  }
}
