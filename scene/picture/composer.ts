import { type Backdrop, SUPERSAMPLING } from './backdrop.ts'
import { CLEAN, COVERED, type Span } from './dirty-tiles.ts'
import type { Layers } from './layers.ts'

const SAMPLES = SUPERSAMPLING * SUPERSAMPLING
const MAX_OWNERS = 256
/** Share of the sunlight blocked by a moving shadow. */
const SHADOW_STRENGTH = 0.96

/** Composes backdrop and layers to a picture, with integer arithmetic. Light is in units of 1/256. */
export class Composer {
  /** Number of visible samples of each object in the last picture, by the id of the owner. */
  readonly visibleSamples = new Int32Array(MAX_OWNERS)
  readonly #width: number
  readonly #height: number
  readonly #backdrop: Backdrop
  readonly #layers: Layers

  constructor(width: number, height: number, backdrop: Backdrop, layers: Layers) {
    this.#width = width
    this.#height = height
    this.#backdrop = backdrop
    this.#layers = layers
  }

  /** Writes RGB, three bytes per pixel. `sunStrength` (0..1) is the share of sunlight not blocked by clouds. */
  compose(rgb: Uint8ClampedArray, sunStrength: number): void {
    const sun = Math.round(sunStrength * 256)
    this.visibleSamples.fill(0)
    for (const span of this.#layers.tiles.spans()) {
      if (span.state === CLEAN) this.#composeClean(rgb, span, sun)
      else if (span.state & COVERED) this.#composeCovered(rgb, span, sun)
      else this.#composeShadowed(rgb, span, sun)
    }
  }

  #composeClean(rgb: Uint8ClampedArray, { left, right, top, bottom }: Span, sun: number): void {
    const { coarseLit, coarseShaded } = this.#backdrop
    for (let y = top; y < bottom; y++) {
      const end = (y * this.#width + right) * 3
      for (let i = (y * this.#width + left) * 3; i < end; i++)
        rgb[i] = (coarseShaded[i]! * (256 - sun) + coarseLit[i]! * sun) >> 8
    }
  }

  #composeShadowed(rgb: Uint8ClampedArray, { left, right, top, bottom }: Span, sun: number): void {
    const { coarseLit, coarseShaded, isGround } = this.#backdrop
    for (let y = top; y < bottom; y++)
      for (let x = left; x < right; x++) {
        const o = y * this.#width + x
        const ground = isGround[(y * this.#width * SUPERSAMPLING + x) * SUPERSAMPLING]
        const light = ground ? this.#shadedSun(x, y, sun) : sun
        const open = ground ? 256 - this.#layers.occlusion[o]! : 256
        for (let i = o * 3; i < o * 3 + 3; i++)
          rgb[i] = ((coarseShaded[i]! * (256 - light) + coarseLit[i]! * light) * open) >> 16
      }
  }

  #composeCovered(rgb: Uint8ClampedArray, { left, right, top, bottom }: Span, sun: number): void {
    const { fineLit, fineShaded, isGround } = this.#backdrop
    const { owner, colour, occlusion } = this.#layers
    const fineWidth = this.#width * SUPERSAMPLING
    for (let y = top; y < bottom; y++)
      for (let x = left; x < right; x++) {
        const light = this.#shadedSun(x, y, sun)
        const open = 256 - occlusion[y * this.#width + x]!
        let r = 0
        let g = 0
        let b = 0
        for (let row = 0; row < SUPERSAMPLING; row++)
          for (let column = 0; column < SUPERSAMPLING; column++) {
            const q = (y * SUPERSAMPLING + row) * fineWidth + x * SUPERSAMPLING + column
            const j = q * 3
            const ownerId = owner[q]!
            if (ownerId) {
              r += colour[j]!
              g += colour[j + 1]!
              b += colour[j + 2]!
              this.visibleSamples[ownerId]!++
            } else if (isGround[q]) {
              r += ((fineShaded[j]! * (256 - light) + fineLit[j]! * light) * open) >> 16
              g += ((fineShaded[j + 1]! * (256 - light) + fineLit[j + 1]! * light) * open) >> 16
              b += ((fineShaded[j + 2]! * (256 - light) + fineLit[j + 2]! * light) * open) >> 16
            } else {
              r += (fineShaded[j]! * (256 - sun) + fineLit[j]! * sun) >> 8
              g += (fineShaded[j + 1]! * (256 - sun) + fineLit[j + 1]! * sun) >> 8
              b += (fineShaded[j + 2]! * (256 - sun) + fineLit[j + 2]! * sun) >> 8
            }
          }
        const i = (y * this.#width + x) * 3
        rgb[i] = (r / SAMPLES) | 0
        rgb[i + 1] = (g / SAMPLES) | 0
        rgb[i + 2] = (b / SAMPLES) | 0
      }
  }

  /** Returns the sunlight on the ground at a pixel, after cast shadows. They are blurred with a 5×5 tent filter. */
  #shadedSun(x: number, y: number, sun: number): number {
    const { shadow } = this.#layers
    const width = this.#width
    const o = y * width + x
    if (x <= 1 || y <= 1 || x >= width - 2 || y >= this.#height - 2) return sun
    if (!(shadow[o]! | shadow[o - 2]! | shadow[o + 2]! | shadow[o - 2 * width]! | shadow[o + 2 * width]!))
      return sun
    let sum = 0
    for (let d = -2; d <= 2; d++) {
      const q = o + d * width
      const weight = 3 - Math.abs(d)
      sum +=
        weight * (shadow[q - 2]! + 2 * shadow[q - 1]! + 3 * shadow[q]! + 2 * shadow[q + 1]! + shadow[q + 2]!)
    }
    return (sun * (1 - (sum / 81) * SHADOW_STRENGTH)) | 0
  }
}
