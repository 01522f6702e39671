import { type Backdrop, SUPERSAMPLING } from './backdrop.ts'
import { CLEAN, COVERED, type Span } from './dirty-tiles.ts'
import type { Layers } from './layers.ts'

const SAMPLES = SUPERSAMPLING * SUPERSAMPLING
const MAX_OWNERS = 256
/** Share of the sunlight blocked by a moving shadow. */
const SHADOW_STRENGTH = 0.96
/** Sum of the weights of the tent filter: 1 + 2 + 3 + 2 + 1 along each axis. */
const TENT_WEIGHT = 81

/**
 * Composes backdrop and layers to a picture, with integer arithmetic. Light is in units of 1/256.
 */
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

  /**
   * Writes RGB, three bytes per pixel. `sunStrength` (0..1) is the share of sunlight
   * not blocked by clouds.
   */
  compose(rgb: Uint8ClampedArray, sunStrength: number): void {
    const sun = Math.round(sunStrength * 256)
    this.visibleSamples.fill(0)
    for (const span of this.#layers.tiles.spans()) {
      if (span.state === CLEAN) this.#composeClean(rgb, span, sun)
      else if (span.state & COVERED) this.#composeCovered(rgb, span, sun)
      else this.#composeShadowed(rgb, span, sun)
    }
  }

  /** Composes tiles without objects and moving shadows: only the backdrop. */
  #composeClean(rgb: Uint8ClampedArray, { left, right, top, bottom }: Span, sun: number): void {
    const { coarseLit, coarseShaded } = this.#backdrop
    for (let y = top; y < bottom; y++) {
      const end = (y * this.#width + right) * 3
      for (let i = (y * this.#width + left) * 3; i < end; i++) {
        rgb[i] = (coarseShaded[i]! * (256 - sun) + coarseLit[i]! * sun) >> 8
      }
    }
  }

  /** Composes tiles without objects. Moving shadows darken the ground. */
  #composeShadowed(rgb: Uint8ClampedArray, { left, right, top, bottom }: Span, sun: number): void {
    const { coarseLit, coarseShaded, isGround } = this.#backdrop
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) {
        const pixel = y * this.#width + x
        const ground = isGround[(y * this.#width * SUPERSAMPLING + x) * SUPERSAMPLING]
        const light = ground ? this.#shadedSun(x, y, sun) : sun
        const open = ground ? 256 - this.#layers.occlusion[pixel]! : 256
        for (let i = pixel * 3; i < pixel * 3 + 3; i++) {
          rgb[i] = ((coarseShaded[i]! * (256 - light) + coarseLit[i]! * light) * open) >> 16
        }
      }
    }
  }

  /** Composes tiles with objects. Each pixel is the mean of its samples. */
  #composeCovered(rgb: Uint8ClampedArray, { left, right, top, bottom }: Span, sun: number): void {
    const { fineLit, fineShaded, isGround } = this.#backdrop
    const { owner, colour, occlusion } = this.#layers
    const fineWidth = this.#width * SUPERSAMPLING
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) {
        const light = this.#shadedSun(x, y, sun)
        const open = 256 - occlusion[y * this.#width + x]!
        let r = 0
        let g = 0
        let b = 0
        for (let subsample = 0; subsample < SAMPLES; subsample++) {
          const row = y * SUPERSAMPLING + Math.floor(subsample / SUPERSAMPLING)
          const column = x * SUPERSAMPLING + (subsample % SUPERSAMPLING)
          const sample = row * fineWidth + column
          const i = sample * 3
          const ownerId = owner[sample]!
          if (ownerId) {
            r += colour[i]!
            g += colour[i + 1]!
            b += colour[i + 2]!
            this.visibleSamples[ownerId]!++
          } else if (isGround[sample]) {
            r += ((fineShaded[i]! * (256 - light) + fineLit[i]! * light) * open) >> 16
            g += ((fineShaded[i + 1]! * (256 - light) + fineLit[i + 1]! * light) * open) >> 16
            b += ((fineShaded[i + 2]! * (256 - light) + fineLit[i + 2]! * light) * open) >> 16
          } else {
            r += (fineShaded[i]! * (256 - sun) + fineLit[i]! * sun) >> 8
            g += (fineShaded[i + 1]! * (256 - sun) + fineLit[i + 1]! * sun) >> 8
            b += (fineShaded[i + 2]! * (256 - sun) + fineLit[i + 2]! * sun) >> 8
          }
        }
        const pixel = (y * this.#width + x) * 3
        rgb[pixel] = (r / SAMPLES) | 0
        rgb[pixel + 1] = (g / SAMPLES) | 0
        rgb[pixel + 2] = (b / SAMPLES) | 0
      }
    }
  }

  /**
   * Returns the sunlight on the ground at a pixel, after cast shadows. They are blurred
   * with a 5×5 tent filter.
   */
  #shadedSun(x: number, y: number, sun: number): number {
    const { shadow } = this.#layers
    const width = this.#width
    const isAtEdge = x <= 1 || y <= 1 || x >= width - 2 || y >= this.#height - 2
    if (isAtEdge) return sun

    const pixel = y * width + x
    const corners =
      shadow[pixel - 2]! |
      shadow[pixel + 2]! |
      shadow[pixel - 2 * width]! |
      shadow[pixel + 2 * width]!
    const isNearShadow = (shadow[pixel]! | corners) !== 0
    if (!isNearShadow) return sun

    let sum = 0
    for (let row = -2; row <= 2; row++) {
      const middle = pixel + row * width
      const outer = shadow[middle - 2]! + shadow[middle + 2]!
      const inner = shadow[middle - 1]! + shadow[middle + 1]!
      sum += (3 - Math.abs(row)) * (outer + 2 * inner + 3 * shadow[middle]!)
    }
    return (sun * (1 - (sum / TENT_WEIGHT) * SHADOW_STRENGTH)) | 0
  }
}
