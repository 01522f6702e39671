import { type Rgb, toLinearRgb } from '../graphics/colour.ts'
import { clamp } from '../maths/arithmetic.ts'
import type { Random } from '../maths/random.ts'

const SKIN = [0xf0c8a8, 0xe3b08c, 0xc98f68, 0x9c6a48, 0x6e4630, 0x4a2f22, 0xd9a27c].map(toLinearRgb)
const HAIR = [0x1a1512, 0x2b1d14, 0x4a3020, 0x7a5630, 0xb08a50, 0x8a8a88, 0xd8d4cc, 0x5a2a18].map(
  toLinearRgb,
)
// biome-ignore format: a palette
const TOPS = [
  0xb03030, 0x2a4a8a, 0x2f6f4a, 0xd8d0c0, 0x222428, 0xe0b040, 0x7a3a6a, 0x5a7a9a, 0x8a5a3a,
  0xe8e8e8, 0xd06a3a, 0x3a8a8a, 0x9a9a9a, 0x40342c, 0xc8a0a8, 0x405028, 0x16305a, 0x8c1f2f,
].map(toLinearRgb)
// biome-ignore format: a palette
const BOTTOMS = [
  0x28344e, 0x1c1e22, 0x3a4a68, 0x8a7a5c, 0x55504a, 0x2c2620, 0x6a7888, 0xb8a888, 0x1a2438, 0x4a5a3a,
].map(toLinearRgb)
const SHOES = [0x1a1614, 0x3a2418, 0xe4e4e0, 0x707070, 0x902020].map(toLinearRgb)

/**
 * Body, clothes and gait of a person. `height` is in metres; `width` and `swing` are
 * relative to the average.
 */
export interface PersonAppearance {
  height: number
  width: number
  female: boolean
  child: boolean
  coat: boolean
  skirt: boolean
  skin: Rgb
  hair: Rgb
  longHair: boolean
  hat: Rgb | null
  bald: boolean
  top: Rgb
  accent: Rgb
  pattern: 'plain' | 'stripes' | 'shoulders'
  bottom: Rgb
  shoes: Rgb
  shortSleeves: boolean
  shorts: boolean
  backpack: Rgb | null
  bag: Rgb | null
  phone: boolean
  swing: number
  lean: number
  salt: number
}

/** Creates a random person. The order of the fields determines the random numbers they draw. */
export function createRandomPersonAppearance(random: Random): PersonAppearance {
  const child = random.chance(0.1)
  const height = child
    ? random.between(1.1, 1.42)
    : clamp(1.71 + 0.085 * random.gaussian(), 1.5, 1.98)
  const female = random.chance(0.5)
  const coat = !child && random.chance(0.22)
  const skirt = female && !coat && random.chance(0.3)
  return {
    height,
    female,
    child,
    coat,
    skirt,
    width: random.between(0.88, 1.16) * (child ? 0.95 : 1),
    skin: random.pick(SKIN),
    hair: random.pick(HAIR),
    longHair: female && random.chance(0.65),
    hat: random.chance(0.12) ? random.pick(TOPS) : null,
    bald: !female && random.chance(0.08),
    top: random.pick(TOPS),
    accent: random.pick(TOPS),
    pattern: pickPattern(random),
    bottom: random.pick(BOTTOMS),
    shoes: random.pick(SHOES),
    shortSleeves: !coat && random.chance(0.45),
    shorts: !skirt && random.chance(0.12),
    backpack: random.chance(0.25) ? random.pick(TOPS) : null,
    bag: random.chance(0.22) ? random.pick(BOTTOMS) : null,
    phone: random.chance(0.14),
    swing: random.between(0.9, 1.1),
    lean: random.between(0, 0.07),
    salt: random.integer(0, 1e6),
  }
}

function pickPattern(random: Random): PersonAppearance['pattern'] {
  if (random.chance(0.2)) return 'stripes'
  return random.chance(0.15) ? 'shoulders' : 'plain'
}
