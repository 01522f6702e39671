import { type Rgb, toLinearRgb } from '../graphics/colour.ts'
import type { Random } from '../maths/random.ts'

// biome-ignore format: a palette
const PAINTS = [
  0xd8dadc, 0x16181b, 0x9a9ea2, 0xa81c1c, 0x1d3f7a, 0xf2f2ee, 0x4a4e52,
  0x2c5a48, 0xc8a24a, 0x6a2a2a, 0x3a76b8, 0xb8b0a0, 0x5c2a58, 0xd2601a,
].map(toLinearRgb)
const BRIGHT_RIM = toLinearRgb(0xb8bcc0)
const DARK_RIM = toLinearRgb(0x303234)
export const DARK = toLinearRgb(0x0c0d0f)
const BELT_HEIGHTS_M: Record<CarKind, number> = { hatch: 0.9, sedan: 0.9, suv: 1.02, van: 1.08 }

export type CarKind = 'hatch' | 'sedan' | 'suv' | 'van'

/** Shape and colours of a car. Lengths are in metres. */
export interface CarAppearance {
  kind: CarKind
  length: number
  width: number
  height: number
  paint: Rgb
  rim: Rgb
}

/** Whether cars of this kind have a high hood and large wheels. */
export const isTall = (kind: CarKind): boolean => kind === 'suv' || kind === 'van'

const SIZES: Record<CarKind, readonly [length: number, width: number, height: number]> = {
  hatch: [4.0, 1.76, 1.48],
  sedan: [4.6, 1.82, 1.44],
  suv: [4.6, 1.88, 1.7],
  van: [5.1, 1.95, 2.1],
}

/** Creates a random car. The order of the fields determines the random numbers they draw. */
export function createRandomCarAppearance(random: Random): CarAppearance {
  const kind = pickKind(random)
  const [length, width, height] = SIZES[kind]
  return {
    kind,
    length: length * random.between(0.95, 1.05),
    width,
    height: height * random.between(0.98, 1.02),
    paint: random.pick(PAINTS),
    rim: random.chance(0.6) ? BRIGHT_RIM : DARK_RIM,
  }
}

/** Picks a kind of car by its frequency on the road. */
function pickKind(random: Random): CarKind {
  const share = random.next()
  if (share < 0.42) return 'hatch'
  if (share < 0.72) return 'sedan'
  return share < 0.88 ? 'suv' : 'van'
}

/** Returns the height of the lower edge of the windows in metres. */
export const getBeltHeight = (kind: CarKind): number => BELT_HEIGHTS_M[kind]

/**
 * The state of a car: position in metres, heading (hx, hy) as a unit vector, and rotation of
 * the wheels in radians.
 */
export interface CarPose {
  x: number
  y: number
  hx: number
  hy: number
  wheelAngle: number
  isBraking: boolean
}
