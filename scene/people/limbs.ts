import { scaleColour, toLinearRgb } from '../graphics/colour.ts'
import { cos, sin, TAU } from '../maths/arithmetic.ts'
import { hash } from '../maths/noise.ts'
import type { BodyPose, Leg } from './body-pose.ts'

const PHONE = toLinearRgb(0x101014)

// Profiles: position along the limb (0..1) or height (metres), then semi-axes in metres.
// biome-ignore format: table
const UPPER_ARM = [
  [-0.1, 0.02], [-0.05, 0.052], [0.1, 0.06], [0.4, 0.053], [0.75, 0.046], [1, 0.043],
] as const
// biome-ignore format: table
const FOREARM_AND_HAND = [
  [0.15, 0.043], [0.5, 0.039], [0.9, 0.03], [1, 0.03], [1.06, 0.036], [1.2, 0.04], [1.36, 0.03],
  [1.42, 0.008],
] as const
const BAG = [
  [0.12, 0.02],
  [0.11, 0.05],
  [0, 0.055],
  [-0.13, 0.05],
  [-0.14, 0.01],
] as const

/** Adds an arm with the phone or bag in its hand. `side` is -1 (left) or 1 (right). */
export function addArm(pose: BodyPose, side: number): void {
  const { gaitPhase, walking, hx, hy } = pose.stance
  const appearance = pose.appearance
  const k = pose.scale
  const girth = pose.girth
  const p = gaitPhase + (side > 0 ? 0 : TAU / 2)
  const phone = appearance.phone && side > 0
  const upper = phone ? 0.35 : ((0.52 * pose.swing) / 0.46) * sin(p) * 0.8 - 0.02 + pose.lean
  const bend = phone ? 1.9 : 0.18 + 0.28 * walking * (1 + sin(p)) * 0.6
  const fore = upper + bend
  const upperLength = 0.285 * k
  const foreLength = 0.255 * k
  const shoulder = (appearance.female ? 0.172 : 0.197) * girth
  const shoulderForward = pose.leanAt(0.455) + side * -1 * sin(1.2 * pose.twist) * shoulder
  const shoulderUp = pose.heightAt(0.455)
  const elbowForward = upperLength * sin(upper)
  const elbowUp = -upperLength * cos(upper)
  const wristForward = elbowForward + foreLength * sin(fore)
  const wristUp = elbowUp - foreLength * cos(fore)
  const right = (t: number): number => side * shoulder * 0.98 + side * 0.06 * girth * t
  for (const [t, r] of UPPER_ARM)
    pose.addRing(
      shoulderForward + elbowForward * t,
      right(t),
      shoulderUp + elbowUp * t + 0.015,
      r * girth,
      r * girth,
      cos(upper),
      sin(upper),
    )
  for (const [t, r] of FOREARM_AND_HAND)
    pose.addRing(
      shoulderForward + elbowForward + (wristForward - elbowForward) * t,
      right(1) - (phone ? side * 0.09 * t * k : 0),
      shoulderUp + elbowUp + (wristUp - elbowUp) * t,
      r * girth,
      r * girth * (t > 1 ? 0.7 : 1),
      cos(fore),
      sin(fore),
    )
  pose.mesh.loft(8, ring => {
    if (ring >= 9 || (appearance.shortSleeves && ring >= 4)) return appearance.skin
    if (appearance.pattern === 'shoulders' && !appearance.coat) return appearance.accent
    const striped = appearance.pattern === 'stripes' && ring & 1 && !appearance.coat
    return scaleColour(
      striped ? appearance.accent : appearance.top,
      0.92 + 0.14 * hash(ring, side, appearance.salt + 2),
    )
  })
  if (phone) {
    const [x, y] = pose.toGround(shoulderForward + wristForward + 0.03, right(1) - side * 0.1 * k)
    pose.mesh.addEllipsoid(x, y, shoulderUp + wristUp + 0.08, 0.03, 0.012, 0.06, hx, hy, 6, 4, PHONE, 0.6)
  }
  if (appearance.bag && side > 0 && !phone) {
    const z = shoulderUp + wristUp - 0.22 * k
    for (const [dz, a] of BAG)
      pose.addRing(shoulderForward + wristForward, right(1) + 0.02, z + dz * k, a * k, a * 3 * k)
    pose.mesh.loft(8, appearance.bag, 0.08, 0.6)
  }
}

// Profiles: position along the limb (0..1) or height (metres), then semi-axes in metres.
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
// biome-ignore format: table
const FOOT = [
  [-0.075, 0.01, 0.01, -0.03], [-0.065, 0.036, 0.045, -0.022], [0, 0.042, 0.056, -0.018],
  [0.07, 0.044, 0.038, -0.036], [0.135, 0.042, 0.028, -0.046], [0.165, 0.02, 0.015, -0.055],
  [0.168, 0.005, 0.005, -0.055],
] as const

/** Adds a leg and its shoe. */
export function addLeg(pose: BodyPose, leg: Leg): void {
  const { hx, hy } = pose.stance
  const appearance = pose.appearance
  const k = pose.scale
  const hip = 0.095 * k * (appearance.female ? 1.05 : 1)
  const s = leg.side * hip
  const s2 = leg.side * hip * 0.82
  const width = pose.girth
  const loose = appearance.skirt ? 0.85 : 1.06
  for (const [t, r] of THIGH)
    pose.addRing(
      leg.kneeForward * t,
      s + (s2 - s) * t,
      pose.pelvis + 0.02 + (leg.kneeUp - 0.02) * t,
      r * width * loose,
      r * width * loose * 1.05,
      cos(leg.thigh),
      sin(leg.thigh),
    )
  for (const [t, r] of SHIN)
    pose.addRing(
      leg.kneeForward + (leg.ankleForward - leg.kneeForward) * t,
      s2,
      pose.pelvis + leg.kneeUp + (leg.ankleUp - leg.kneeUp) * t,
      r * width * loose,
      r * width * loose * 1.08,
      cos(leg.shin),
      sin(leg.shin),
    )
  pose.mesh.loft(8, ring => {
    if (appearance.skirt) return ring >= 3 ? appearance.skin : appearance.bottom
    if (appearance.shorts && ring >= 4) return appearance.skin
    return scaleColour(appearance.bottom, 0.92 + 0.16 * hash(ring, leg.side, appearance.salt))
  })
  const ff = cos(leg.foot)
  const fz = sin(leg.foot)
  const ankle = pose.pelvis + leg.ankleUp
  for (const [t, r, h, dz] of FOOT) {
    const [x, y] = pose.toGround(leg.ankleForward + (t * ff + dz * fz) * k, s2)
    // biome-ignore format: centre, right axis, other axis
    pose.mesh.addRing(
      x, y, ankle + (t * fz + dz * ff) * k,
      hy * r * width, -hx * r * width, 0,
      -hx * fz * h * k, -hy * fz * h * k, ff * h * k,
    )
  }
  pose.mesh.loft(8, appearance.shoes, 0.15)
}
