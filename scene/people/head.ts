import { type Rgb, scaleColour } from '../graphics/colour.ts'
import { hash } from '../maths/noise.ts'
import type { Vector } from '../maths/vectors.ts'
import type { BodyPose } from './body-pose.ts'

/** The rings of the neck from bottom to top: height above the pelvis and radius, in metres. */
const NECK = [
  [0.5, 0.062],
  [0.55, 0.052],
  [0.61, 0.05],
] as const

/**
 * The rings of long hair from top to bottom: height above the centre of the head, half width, half
 * depth and forward offset.
 */
// biome-ignore format: table
const LONG_HAIR = [
  [0.06, 0.07, 0.05, -0.05], [-0.02, 0.088, 0.055, -0.055], [-0.12, 0.09, 0.05, -0.07],
  [-0.22, 0.075, 0.04, -0.085], [-0.27, 0.03, 0.02, -0.085],
] as const

/** The head of a person. Lengths are in metres. */
interface Head {
  centre: Vector
  /** Factor for the size of the head, in addition to that of the body. */
  size: number
}

/** Adds neck, head, hat and hair. */
export function addHead(pose: BodyPose): void {
  const { appearance, scale } = pose
  const neckForward = pose.leanAt(0.56) + 0.01
  addNeck(pose, neckForward)

  const [x, y] = pose.toGround(neckForward + 0.03 * scale, 0)
  const z = pose.heightAt(0.735 + (appearance.child ? 0.02 : 0))
  // Children have large heads.
  const size = appearance.child ? 0.94 / Math.sqrt(scale) : 1
  const head: Head = { centre: [x, y, z], size }
  addFace(pose, head)
  if (appearance.hat) addHat(pose, head, appearance.hat)
  if (!appearance.bald) addHair(pose, head)
  if (!appearance.bald && appearance.longHair) addLongHair(pose, head)
}

function addNeck(pose: BodyPose, forward: number): void {
  for (const [z, radius] of NECK) {
    pose.addRing({
      forward: forward + (z - 0.5) * 0.1,
      height: pose.heightAt(z),
      width: radius * pose.girth,
      depth: radius * pose.girth,
    })
  }
  pose.mesh.loft({ sides: 8, colour: pose.appearance.skin })
}

/** Adds the head and the nose. */
function addFace(
  { mesh, stance, appearance, scale }: BodyPose,
  { centre: [x, y, z], size }: Head,
): void {
  const { hx, hy } = stance
  const { skin } = appearance
  mesh.addEllipsoid({
    centre: [x, y, z],
    radii: [0.078 * scale * size, 0.095 * scale * size, 0.12 * scale * size],
    heading: [hx, hy],
    sides: 10,
    rings: 9,
    colour(ring, side) {
      const isEye = ring === 4 && (side === 1 || side === 3)
      if (isEye) return scaleColour(skin, 0.45)
      const isBelowChin = ring > 6
      return scaleColour(skin, isBelowChin ? 0.8 : 1)
    },
  })

  const radius = 0.1 * scale * size
  mesh.addEllipsoid({
    centre: [
      x + hx * 0.012 * scale + hx * radius * 0.9,
      y + hy * 0.012 * scale + hy * radius * 0.9,
      z - 0.015 * scale,
    ],
    radii: [0.014 * scale, 0.02 * scale, 0.025 * scale],
    heading: [hx, hy],
    sides: 6,
    rings: 3,
    colour: skin,
  })
}

/** Adds a hat with a brim at the front. */
function addHat({ mesh, stance, scale }: BodyPose, { centre: [x, y, z] }: Head, colour: Rgb): void {
  const { hx, hy } = stance
  const edge = z + 0.045 * scale
  mesh.addEllipsoid({
    centre: [x, y, edge],
    radii: [0.09 * scale, 0.108 * scale, 0.095 * scale],
    heading: [hx, hy],
    sides: 12,
    rings: 4,
    colour,
    latitudes: [0, 0.52],
  })
  mesh.addEllipsoid({
    centre: [x + hx * 0.06 * scale, y + hy * 0.06 * scale, edge],
    radii: [0.075 * scale, 0.12 * scale, 0.012 * scale],
    heading: [hx, hy],
    sides: 10,
    rings: 3,
    colour: scaleColour(colour, 0.8),
  })
}

/** Adds the hair on the head, without the face. */
function addHair(
  { mesh, stance, appearance, scale }: BodyPose,
  { centre: [x, y, z], size }: Head,
): void {
  const { hx, hy } = stance
  const { hair, longHair, salt } = appearance
  mesh.addEllipsoid({
    centre: [x - hx * 0.012 * scale, y - hy * 0.012 * scale, z + 0.012 * scale],
    radii: [0.086 * scale * size, 0.098 * scale * size, 0.122 * scale * size],
    heading: [hx, hy],
    sides: 12,
    rings: 7,
    colour(ring, side) {
      const isFront = side >= 1 && side <= 4
      const isBack = side >= 6 && side <= 11
      const isFace = ring >= 3 && isFront
      const isBesideNeck = ring >= 5 && !isFront && !isBack && !longHair
      if (isFace || isBesideNeck) return null
      return scaleColour(hair, 0.8 + 0.4 * hash(ring, side, salt))
    },
    gloss: 0.08,
    latitudes: [0, longHair ? 0.78 : 0.68],
  })
}

/** Adds the hair that falls over the back. */
function addLongHair(
  { mesh, stance, appearance, scale }: BodyPose,
  { centre: [x, y, z] }: Head,
): void {
  const { hx, hy } = stance
  const { hair, salt } = appearance
  for (const [height, width, depth, forward] of LONG_HAIR) {
    mesh.addRing(
      [x + hx * forward * scale, y + hy * forward * scale, z + height * scale],
      [hy * width * scale, -hx * width * scale, 0],
      [hx * depth * scale, hy * depth * scale, 0],
    )
  }
  const getColour = (_: number, side: number) => scaleColour(hair, 0.8 + 0.4 * hash(side, 3, salt))
  mesh.loft({ sides: 10, colour: getColour, gloss: 0.08 })
}
