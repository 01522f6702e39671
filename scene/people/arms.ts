import { cos, sin, TAU } from '../maths/arithmetic.ts'
import { hash } from '../maths/noise.ts'
import { paint, scaled } from '../picture/colour.ts'
import type { Pose } from './pose.ts'

const PHONE = paint(0x101014)

// Profiles: the place along the limb (0..1) or the height (metres), then half axes.
// biome-ignore format: tables
const UPPER_ARM = [
  [-0.1, 0.02], [-0.05, 0.052], [0.1, 0.06], [0.4, 0.053], [0.75, 0.046], [1, 0.043],
] as const
// biome-ignore format: tables
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

export function addArm(pose: Pose, side: number): void {
  const { phase, walk, hx, hy } = pose.stance
  const look = pose.look
  const k = pose.k
  const girth = pose.girth
  const p = phase + (side > 0 ? 0 : TAU / 2)
  const phone = look.phone && side > 0
  const upper = phone ? 0.35 : ((0.52 * pose.swing) / 0.46) * sin(p) * 0.8 - 0.02 + pose.lean
  const bend = phone ? 1.9 : 0.18 + 0.28 * walk * (1 + sin(p)) * 0.6
  const fore = upper + bend
  const upperLength = 0.285 * k
  const foreLength = 0.255 * k
  const shoulder = (look.female ? 0.172 : 0.197) * girth
  const shoulderForward = pose.leaning(0.455) + side * -1 * sin(1.2 * pose.twist) * shoulder
  const shoulderUp = pose.up(0.455)
  const elbowForward = upperLength * sin(upper)
  const elbowUp = -upperLength * cos(upper)
  const wristForward = elbowForward + foreLength * sin(fore)
  const wristUp = elbowUp - foreLength * cos(fore)
  const right = (t: number): number => side * shoulder * 0.98 + side * 0.06 * girth * t
  for (const [t, r] of UPPER_ARM)
    pose.ring(
      shoulderForward + elbowForward * t,
      right(t),
      shoulderUp + elbowUp * t + 0.015,
      r * girth,
      r * girth,
      cos(upper),
      sin(upper),
    )
  for (const [t, r] of FOREARM_AND_HAND)
    pose.ring(
      shoulderForward + elbowForward + (wristForward - elbowForward) * t,
      right(1) - (phone ? side * 0.09 * t * k : 0),
      shoulderUp + elbowUp + (wristUp - elbowUp) * t,
      r * girth,
      r * girth * (t > 1 ? 0.7 : 1),
      cos(fore),
      sin(fore),
    )
  pose.mesh.loft(8, ring => {
    if (ring >= 9 || (look.shortSleeves && ring >= 4)) return look.skin
    if (look.pattern === 'shoulders' && !look.coat) return look.accent
    const striped = look.pattern === 'stripes' && ring & 1 && !look.coat
    return scaled(striped ? look.accent : look.top, 0.92 + 0.14 * hash(ring, side, look.salt + 2))
  })
  if (phone) {
    const [x, y] = pose.at(shoulderForward + wristForward + 0.03, right(1) - side * 0.1 * k)
    pose.mesh.ellipsoid(x, y, shoulderUp + wristUp + 0.08, 0.03, 0.012, 0.06, hx, hy, 6, 4, PHONE, 0.6)
  }
  if (look.bag && side > 0 && !phone) {
    const z = shoulderUp + wristUp - 0.22 * k
    for (const [dz, a] of BAG)
      pose.ring(shoulderForward + wristForward, right(1) + 0.02, z + dz * k, a * k, a * 3 * k)
    pose.mesh.loft(8, look.bag, 0.08, 0.6)
  }
}
