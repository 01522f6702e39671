import { type Rgb, scaleColour } from '../graphics/colour.ts'
import { hash } from '../maths/noise.ts'
import type { BodyPose } from './body-pose.ts'

// Profiles: position along the limb (0..1) or height (metres), then semi-axes in metres.
const NECK = [
  [0.5, 0.062],
  [0.55, 0.052],
  [0.61, 0.05],
] as const
// biome-ignore format: table
const LONG_HAIR = [
  [0.06, 0.07, 0.05, -0.05], [-0.02, 0.088, 0.055, -0.055], [-0.12, 0.09, 0.05, -0.07],
  [-0.22, 0.075, 0.04, -0.085], [-0.27, 0.03, 0.02, -0.085],
] as const

/** Adds neck, head, hat and hair. */
export function addHead(pose: BodyPose): void {
  const { hx, hy } = pose.stance
  const appearance = pose.appearance
  const k = pose.scale
  const skin = appearance.skin
  const neck = pose.leanAt(0.56) + 0.01
  for (const [z, r] of NECK)
    pose.addRing(neck + (z - 0.5) * 0.1, 0, pose.heightAt(z), r * pose.girth, r * pose.girth)
  pose.mesh.loft(8, skin)
  const z = pose.heightAt(0.735 + (appearance.child ? 0.02 : 0))
  const size = appearance.child ? 0.94 / Math.sqrt(k) : 1 // children have large heads
  const [x, y] = pose.toGround(neck + 0.03 * k, 0)
  const addEllipsoid = pose.mesh.addEllipsoid.bind(pose.mesh)
  addEllipsoid(x, y, z, 0.078 * k * size, 0.095 * k * size, 0.12 * k * size, hx, hy, 10, 9, (ring, side) =>
    ring === 4 && (side === 1 || side === 3)
      ? scaleColour(skin, 0.45)
      : scaleColour(skin, ring > 6 ? 0.8 : 1),
  )
  const radius = 0.1 * k * size
  addEllipsoid(
    x + hx * 0.012 * k + hx * radius * 0.9,
    y + hy * 0.012 * k + hy * radius * 0.9,
    z - 0.015 * k,
    0.014 * k,
    0.02 * k,
    0.025 * k,
    hx,
    hy,
    6,
    3,
    skin,
  )
  if (appearance.hat) {
    addEllipsoid(
      x,
      y,
      z + 0.045 * k,
      0.09 * k,
      0.108 * k,
      0.095 * k,
      hx,
      hy,
      12,
      4,
      appearance.hat,
      0,
      0,
      0.52,
    )
    const [bx, by, brim] = [x + hx * 0.06 * k, y + hy * 0.06 * k, scaleColour(appearance.hat, 0.8)]
    addEllipsoid(bx, by, z + 0.045 * k, 0.075 * k, 0.12 * k, 0.012 * k, hx, hy, 10, 3, brim)
  }
  if (!appearance.bald) addHair(pose, x, y, z, size)
}

function addHair(pose: BodyPose, x: number, y: number, z: number, size: number): void {
  const { hx, hy } = pose.stance
  const { hair, longHair, salt } = pose.appearance
  const k = pose.scale
  const short = (ring: number, side: number): Rgb | null => {
    if (ring >= 3 && side >= 1 && side <= 4) return null // the face
    if (ring >= 5 && (side < 1 || side > 4) && !longHair && (side < 6 || side > 11)) return null
    return scaleColour(hair, 0.8 + 0.4 * hash(ring, side, salt))
  }
  // biome-ignore format: centre, radii, heading
  pose.mesh.addEllipsoid(
    x - hx * 0.012 * k, y - hy * 0.012 * k, z + 0.012 * k,
    0.086 * k * size, 0.098 * k * size, 0.122 * k * size,
    hx, hy, 12, 7, short, 0.08, 0, longHair ? 0.78 : 0.68,
  )
  if (!longHair) return
  for (const [dz, a, b, f] of LONG_HAIR)
    // biome-ignore format: centre, right axis, forward axis
    pose.mesh.addRing(
      x + hx * f * k, y + hy * f * k, z + dz * k,
      hy * a * k, -hx * a * k, 0,
      hx * b * k, hy * b * k, 0,
    )
  pose.mesh.loft(10, (_, side) => scaleColour(hair, 0.8 + 0.4 * hash(side, 3, salt)), 0.08)
}
