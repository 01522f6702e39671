import { type Rgb, scaleColour } from '../graphics/colour.ts'
import { clamp, sin } from '../maths/arithmetic.ts'
import { hash } from '../maths/noise.ts'
import type { BodyPose } from './body-pose.ts'
import type { PersonAppearance } from './person-appearance.ts'

// Profiles from bottom to top: height above the pelvis, half width and half depth of
// each ring, in metres.
// biome-ignore format: table
const FEMALE_TORSO = [
  [-0.1, 0.128, 0.085], [-0.04, 0.16, 0.112], [0.03, 0.165, 0.115], [0.12, 0.142, 0.098],
  [0.2, 0.128, 0.09], [0.3, 0.146, 0.108], [0.38, 0.158, 0.112], [0.45, 0.168, 0.095],
  [0.5, 0.135, 0.075], [0.535, 0.06, 0.05], [0.55, 0.045, 0.045],
] as const
// biome-ignore format: table
const MALE_TORSO = [
  [-0.1, 0.125, 0.085], [-0.04, 0.155, 0.112], [0.03, 0.16, 0.115], [0.12, 0.156, 0.106],
  [0.2, 0.158, 0.105], [0.3, 0.175, 0.116], [0.38, 0.188, 0.118], [0.45, 0.192, 0.098],
  [0.505, 0.15, 0.078], [0.54, 0.07, 0.055], [0.555, 0.05, 0.05],
] as const
// biome-ignore format: table
const BACKPACK = [
  [0.08, 0.05, 0.03], [0.1, 0.12, 0.075], [0.2, 0.135, 0.09], [0.32, 0.13, 0.08],
  [0.42, 0.11, 0.06], [0.45, 0.04, 0.02],
] as const
const SKIRT_RINGS = 5

/** Adds the torso with top, belt and coat buttons. */
export function addTorso(pose: BodyPose): void {
  const { appearance, girth } = pose
  const profile = appearance.female ? FEMALE_TORSO : MALE_TORSO
  for (const [ring, [z, width, depth]] of profile.entries()) {
    const padding = appearance.coat && ring > 1 && ring < 8 ? 1.12 : 1
    pose.addRing({
      forward: pose.leanAt(z),
      height: pose.heightAt(z),
      width: width * girth * padding,
      depth: depth * girth * padding,
      // From the pelvis to the shoulders, which turn against each other.
      twist: -pose.twist + 2.2 * pose.twist * clamp(z / 0.45, 0, 1),
    })
  }
  pose.mesh.loft({ sides: 14, colour: (ring, side) => getTorsoColour(appearance, ring, side) })
}

function getTorsoColour(appearance: PersonAppearance, ring: number, side: number): Rgb {
  const { top, accent, bottom, pattern, coat, female, salt } = appearance
  const isBelowTop = ring < 2 && !coat
  if (isBelowTop) return scaleColour(bottom, 0.95)
  const isBelt = ring === 2 && !coat && !female
  if (isBelt) return scaleColour(bottom, 0.5)

  const isStripe = pattern === 'stripes' && ring % 2 === 1
  const isShoulder = pattern === 'shoulders' && ring >= 6
  const cloth = isStripe || isShoulder ? accent : top
  const isButton = coat && side === 3
  return scaleColour(
    isButton ? scaleColour(cloth, 0.55) : cloth,
    0.9 + 0.2 * hash(ring, side >> 1, salt),
  )
}

/** Adds a skirt or the lower part of a coat. */
export function addSkirt(pose: BodyPose): void {
  const { appearance, girth, stance } = pose
  const length = appearance.coat ? 0.48 : 0.42
  const flare = appearance.coat ? 1.12 : 1.35
  const cloth = appearance.coat ? appearance.top : appearance.bottom
  const sway = 0.03 * stance.walking * sin(stance.gaitPhase * 2)
  /** How far the knees push the cloth forward and backward. */
  const reach = Math.max(...pose.legs.map(leg => Math.abs(leg.kneeForward)))

  for (let ring = 0; ring < SKIRT_RINGS; ring++) {
    const share = ring / (SKIRT_RINGS - 1)
    pose.addRing({
      forward: sway * share,
      height: pose.heightAt(0.1 - (length + 0.1) * share),
      width: (0.158 + (0.165 * flare - 0.15) * share * 0.6) * girth,
      depth: (0.11 + 0.05 * (flare - 0.8) * share) * girth + reach * 0.62 * share,
      twist: -pose.twist,
    })
  }
  const getColour = (ring: number, side: number) =>
    scaleColour(cloth, 0.82 + 0.3 * hash(ring >> 1, side, appearance.salt + 5))
  pose.mesh.loft({ sides: 14, colour: getColour })
}

/** Adds a backpack. */
export function addBackpack(pose: BodyPose, colour: Rgb): void {
  const { scale, girth, twist } = pose
  for (const [z, width, depth] of BACKPACK) {
    pose.addRing({
      forward: pose.leanAt(z) - 0.155 * girth,
      height: pose.heightAt(z),
      width: width * scale,
      depth: depth * scale,
      twist,
    })
  }
  const getColour = (ring: number) => scaleColour(colour, ring === 2 ? 0.7 : 1)
  pose.mesh.loft({ sides: 12, colour: getColour, gloss: 0.03, squareness: 0.5 })
}
