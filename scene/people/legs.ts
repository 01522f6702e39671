import { cos, sin } from '../maths/arithmetic.ts'
import { hash } from '../maths/noise.ts'
import { scaled } from '../picture/colour.ts'
import type { Leg, Pose } from './pose.ts'

// Profiles: the place along the limb (0..1) or the height (metres), then half axes.
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
// biome-ignore format: tables
const FOOT = [
  [-0.075, 0.01, 0.01, -0.03], [-0.065, 0.036, 0.045, -0.022], [0, 0.042, 0.056, -0.018],
  [0.07, 0.044, 0.038, -0.036], [0.135, 0.042, 0.028, -0.046], [0.165, 0.02, 0.015, -0.055],
  [0.168, 0.005, 0.005, -0.055],
] as const

export function addLeg(pose: Pose, leg: Leg): void {
  const { hx, hy } = pose.stance
  const look = pose.look
  const k = pose.k
  const hip = 0.095 * k * (look.female ? 1.05 : 1)
  const s = leg.side * hip
  const s2 = leg.side * hip * 0.82
  const width = pose.girth
  const loose = look.skirt ? 0.85 : 1.06
  for (const [t, r] of THIGH)
    pose.ring(
      leg.kneeForward * t,
      s + (s2 - s) * t,
      pose.pelvis + 0.02 + (leg.kneeUp - 0.02) * t,
      r * width * loose,
      r * width * loose * 1.05,
      cos(leg.thigh),
      sin(leg.thigh),
    )
  for (const [t, r] of SHIN)
    pose.ring(
      leg.kneeForward + (leg.ankleForward - leg.kneeForward) * t,
      s2,
      pose.pelvis + leg.kneeUp + (leg.ankleUp - leg.kneeUp) * t,
      r * width * loose,
      r * width * loose * 1.08,
      cos(leg.shin),
      sin(leg.shin),
    )
  pose.mesh.loft(8, ring => {
    if (look.skirt) return ring >= 3 ? look.skin : look.bottom
    if (look.shorts && ring >= 4) return look.skin
    return scaled(look.bottom, 0.92 + 0.16 * hash(ring, leg.side, look.salt))
  })
  const ff = cos(leg.foot)
  const fz = sin(leg.foot)
  const ankle = pose.pelvis + leg.ankleUp
  for (const [t, r, h, dz] of FOOT) {
    const [x, y] = pose.at(leg.ankleForward + (t * ff + dz * fz) * k, s2)
    // biome-ignore format: centre, right axis, other axis
    pose.mesh.ring(
      x, y, ankle + (t * fz + dz * ff) * k,
      hy * r * width, -hx * r * width, 0,
      -hx * fz * h * k, -hy * fz * h * k, ff * h * k,
    )
  }
  pose.mesh.loft(8, look.shoes, 0.15)
}
