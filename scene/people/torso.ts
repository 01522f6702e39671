import { type Rgb, scaleColour } from '../graphics/colour.ts'
import { clamp, sin } from '../maths/arithmetic.ts'
import { hash } from '../maths/noise.ts'
import type { BodyPose } from './body-pose.ts'

// Profiles: position along the limb (0..1) or height (metres), then semi-axes in metres.
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

/** Adds the torso with top, belt and coat buttons. */
export function addTorso(pose: BodyPose): void {
  const appearance = pose.appearance
  const profile = appearance.female ? FEMALE_TORSO : MALE_TORSO
  profile.forEach(([z, a, b], i) => {
    const twist = -pose.twist + 2.2 * pose.twist * clamp(z / 0.45, 0, 1)
    const padding = appearance.coat && i > 1 && i < 8 ? 1.12 : 1
    const girth = pose.girth
    pose.addRing(pose.leanAt(z), 0, pose.heightAt(z), a * girth * padding, b * girth * padding, 1, 0, twist)
  })
  pose.mesh.loft(14, (ring, side) => {
    if (ring < 2 && !appearance.coat) return scaleColour(appearance.bottom, 0.95)
    if (ring === 2 && !appearance.coat && !appearance.female) return scaleColour(appearance.bottom, 0.5) // the belt
    let c = appearance.top
    if (appearance.pattern === 'stripes' && ring & 1) c = appearance.accent
    if (appearance.pattern === 'shoulders' && ring >= 6) c = appearance.accent
    if (appearance.coat && side === 3) c = scaleColour(c, 0.55) // the buttons
    return scaleColour(c, 0.9 + 0.2 * hash(ring, side >> 1, appearance.salt))
  })
}

/** Adds a skirt or the lower part of a coat. */
export function addSkirt(pose: BodyPose): void {
  const appearance = pose.appearance
  const length = appearance.coat ? 0.48 : 0.42
  const flare = appearance.coat ? 1.12 : 1.35
  const cloth = appearance.coat ? appearance.top : appearance.bottom
  const sway = 0.03 * pose.stance.walking * sin(pose.stance.gaitPhase * 2)
  const reach = Math.max(...pose.legs.map(leg => Math.abs(leg.kneeForward)))
  for (let i = 0; i <= 4; i++) {
    const t = i / 4
    pose.addRing(
      sway * t,
      0,
      pose.heightAt(0.1 - (length + 0.1) * t),
      (0.158 + (0.165 * flare - 0.15) * t * 0.6) * pose.girth,
      (0.11 + 0.05 * (flare - 0.8) * t) * pose.girth + reach * 0.62 * t,
      1,
      0,
      -pose.twist,
    )
  }
  pose.mesh.loft(14, (ring, side) =>
    scaleColour(cloth, 0.82 + 0.3 * hash(ring >> 1, side, appearance.salt + 5)),
  )
}

/** Adds a backpack. */
export function addBackpack(pose: BodyPose, colour: Rgb): void {
  for (const [z, a, b] of BACKPACK)
    pose.addRing(
      pose.leanAt(z) - 0.155 * pose.girth,
      0,
      pose.heightAt(z),
      a * pose.scale,
      b * pose.scale,
      1,
      0,
      pose.twist,
    )
  pose.mesh.loft(12, ring => scaleColour(colour, ring === 2 ? 0.7 : 1), 0.03, 0.5)
}
