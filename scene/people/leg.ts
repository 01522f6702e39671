import { type Rgb, scaleColour } from '../graphics/colour.ts'
import { cos, sin } from '../maths/arithmetic.ts'
import { hash } from '../maths/noise.ts'
import type { Side } from '../maths/vectors.ts'
import type { BodyPose, Leg } from './body-pose.ts'

// Profiles: position between the joints (0 to 1), and radius in metres.
const THIGH = [
  [0, 0.092],
  [0.25, 0.088],
  [0.55, 0.072],
  [0.88, 0.06],
  [1, 0.058],
] as const
const SHIN = [
  [0.08, 0.056],
  [0.3, 0.06],
  [0.6, 0.047],
  [0.9, 0.04],
  [1, 0.043],
] as const
/** First ring of the part of a leg that a skirt, or shorts, leave bare. */
const BARE_RING_WITH_SKIRT = 3
const BARE_RING_WITH_SHORTS = 4

/**
 * The rings of a foot from heel to toe: position along the sole, half width, half height, and
 * height above the ankle, in metres.
 */
// biome-ignore format: table
const FOOT = [
  [-0.075, 0.01, 0.01, -0.03], [-0.065, 0.036, 0.045, -0.022], [0, 0.042, 0.056, -0.018],
  [0.07, 0.044, 0.038, -0.036], [0.135, 0.042, 0.028, -0.046], [0.165, 0.02, 0.015, -0.055],
  [0.168, 0.005, 0.005, -0.055],
] as const

/** Adds a leg and its shoe. */
export function addLeg(pose: BodyPose, leg: Leg): void {
  const { appearance, scale, girth, pelvis } = pose
  const { side, kneeForward, kneeUp, ankleForward, ankleUp } = leg
  const hip = 0.095 * scale * (appearance.female ? 1.05 : 1)
  const hipRight = side * hip
  const kneeRight = side * hip * 0.82
  const looseness = appearance.skirt ? 0.85 : 1.06

  for (const [share, radius] of THIGH) {
    pose.addRing({
      forward: kneeForward * share,
      right: hipRight + (kneeRight - hipRight) * share,
      height: pelvis + 0.02 + (kneeUp - 0.02) * share,
      width: radius * girth * looseness,
      depth: radius * girth * looseness * 1.05,
      axis: [cos(leg.thigh), sin(leg.thigh)],
    })
  }
  for (const [share, radius] of SHIN) {
    pose.addRing({
      forward: kneeForward + (ankleForward - kneeForward) * share,
      right: kneeRight,
      height: pelvis + kneeUp + (ankleUp - kneeUp) * share,
      width: radius * girth * looseness,
      depth: radius * girth * looseness * 1.08,
      axis: [cos(leg.shin), sin(leg.shin)],
    })
  }
  pose.mesh.loft({ sides: 8, colour: ring => getLegColour(pose, side, ring) })
  addShoe(pose, leg, kneeRight)
}

function getLegColour({ appearance }: BodyPose, side: Side, ring: number): Rgb {
  const { skirt, shorts, bottom, skin, salt } = appearance
  if (skirt) return ring >= BARE_RING_WITH_SKIRT ? skin : bottom
  if (shorts && ring >= BARE_RING_WITH_SHORTS) return skin
  return scaleColour(bottom, 0.92 + 0.16 * hash(ring, side, salt))
}

function addShoe(pose: BodyPose, leg: Leg, right: number): void {
  const { mesh, scale, girth } = pose
  const { hx, hy } = pose.stance
  const c = cos(leg.foot)
  const s = sin(leg.foot)
  const ankleHeight = pose.pelvis + leg.ankleUp
  for (const [along, width, height, up] of FOOT) {
    const [x, y] = pose.toGround(leg.ankleForward + (along * c + up * s) * scale, right)
    mesh.addRing(
      [x, y, ankleHeight + (along * s + up * c) * scale],
      [hy * width * girth, -hx * width * girth, 0],
      [-hx * s * height * scale, -hy * s * height * scale, c * height * scale],
    )
  }
  mesh.loft({ sides: 8, colour: pose.appearance.shoes, gloss: 0.15 })
}
