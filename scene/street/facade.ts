import type { Rgb } from '../graphics/colour.ts'
import { fractalNoise, hash, valueNoise } from '../maths/noise.ts'

/** The parameters of a facade. Lengths are in metres; `x0` is the left edge. */
export interface FacadePlan {
  x0: number
  width: number
  wall: 'plaster' | 'brick' | 'shutters'
  /** Makes the random details of each facade different. */
  salt: number
  /** Colour of the shop on the ground floor. */
  shop: Rgb
  /** Height of the ground floor. */
  groundFloor: number
  windowSpacing: number
}

const STOREY_HEIGHT_M = 3.1
const SIDE_WALL_WIDTH_M = 14

/** A colour that the texture changes in place. */
type MutableRgb = [r: number, g: number, b: number]

/** Height of a course of bricks with its joint, and of the joint alone, in metres. */
const COURSE_HEIGHT = 0.075
const JOINT_HEIGHT = 0.012
const BRICK_LENGTH = 0.24
// The windows of the upper floors, in metres: half the width, and the heights of sill and
// lintel above the floor.
const HALF_WINDOW = 0.52
const SILL = 0.85
const LINTEL = 2.45

/**
 * Applies the procedural texture to `colour`, at a point of the wall: metres along the wall and
 * above the ground. `ray` is the direction of view. Returns the share of reflected sky.
 */
export function shadeFacade(
  plan: FacadePlan,
  colour: MutableRgb,
  [along, z]: readonly [number, number],
  isFront: boolean,
  [rayX, rayZ]: readonly [number, number],
): number {
  const wallWidth = isFront ? plan.width : SIDE_WALL_WIDTH_M
  shadeWall(plan, colour, along, z)

  /** Sets the colour of a window pane, and returns its share of reflected sky. */
  const shadeGlass = (): number => {
    const mirrored =
      0.12 + 0.5 * fractalNoise(along * 0.5 + rayX * 3, z * 0.5 + rayZ * 4, plan.salt + 5, 3)
    set(colour, 0.012, 0.016, 0.02)
    return mirrored * 0.75
  }
  return z < plan.groundFloor
    ? shadeShopFront(plan, colour, along, z, wallWidth, shadeGlass)
    : shadeUpperFloor(plan, colour, along, z, wallWidth, shadeGlass)
}

function shadeWall(plan: FacadePlan, colour: MutableRgb, along: number, z: number): void {
  if (plan.wall !== 'brick') {
    scale(colour, 0.86 + 0.2 * fractalNoise(along * 0.7, z * 2, plan.salt, 4))
    return
  }
  const course = Math.floor(z / COURSE_HEIGHT)
  const isShifted = course % 2 !== 0
  const brick = Math.floor((along + (isShifted ? BRICK_LENGTH / 2 : 0)) / BRICK_LENGTH)
  const isJoint = z - course * COURSE_HEIGHT < JOINT_HEIGHT
  scale(colour, isJoint ? 1.15 : 0.82 + 0.3 * hash(brick, course, plan.salt))
}

/** Shades a shop with its sign, windows or doors, and the posts between them. */
function shadeShopFront(
  plan: FacadePlan,
  colour: MutableRgb,
  along: number,
  z: number,
  wallWidth: number,
  shadeGlass: () => number,
): number {
  const isSign = z > plan.groundFloor - 0.75
  if (isSign) {
    set(colour, ...plan.shop)
    if (isLettering(plan, along, z, wallWidth)) set(colour, 0.62, 0.62, 0.62)
    return 0
  }

  const windowCount = Math.max(2, Math.floor(wallWidth / 2.6))
  const pitch = wallWidth / windowCount
  const window = Math.floor(along / pitch)
  const across = along - window * pitch
  const isPost = across <= 0.16 || across >= pitch - 0.16
  if (isPost) {
    for (let i = 0; i < 3; i++) colour[i] = colour[i]! * 0.25 + plan.shop[i]! * 0.7
    return 0
  }

  const isDoor = hash(window, 1, plan.salt) < 0.3
  const sill = isDoor ? 0.06 : 0.5
  const isOpening = z > sill && z < plan.groundFloor - 0.85
  if (!isOpening) return 0

  const isBar = Math.abs(across - pitch / 2) < 0.035 || (z > 2.15 && z < 2.21)
  if (isBar) {
    set(colour, plan.shop[0] * 0.8, plan.shop[1] * 0.8, plan.shop[2] * 0.8)
    return 0
  }

  const mirrored = shadeGlass()
  const showsGoods = z < 1.5 && valueNoise(along * 2.5, z * 3, plan.salt + 9) > 0.55
  if (!showsGoods) return mirrored
  const cell = Math.floor(along * 3)
  colour[0] += 0.1 * hash(cell, Math.floor(z * 3), plan.salt)
  colour[1] += 0.08 * hash(cell, 3, plan.salt)
  colour[2] += 0.06
  return mirrored * 0.6
}

/** Whether a point is on the letters of the shop sign, which are illegible at this resolution. */
function isLettering(plan: FacadePlan, along: number, z: number, wallWidth: number): boolean {
  const letter = along * 4
  return (
    along > 1.2 &&
    along < wallWidth * 0.7 &&
    z > plan.groundFloor - 0.58 &&
    z < plan.groundFloor - 0.22 &&
    hash(Math.floor(letter), 7, plan.salt) < 0.8 &&
    letter % 1 > 0.2 &&
    letter % 1 < 0.82 &&
    hash(Math.floor(letter * 4), Math.floor(z * 9), plan.salt) < 0.62
  )
}

/** Shades a storey with its windows, their surrounds and shutters. */
function shadeUpperFloor(
  plan: FacadePlan,
  colour: MutableRgb,
  along: number,
  z: number,
  wallWidth: number,
  shadeGlass: () => number,
): number {
  const up = (z - plan.groundFloor) % STOREY_HEIGHT_M
  const floor = Math.floor((z - plan.groundFloor) / STOREY_HEIGHT_M)
  const windowCount = Math.max(2, Math.floor(wallWidth / plan.windowSpacing))
  const pitch = wallWidth / windowCount
  const window = Math.floor(along / pitch)
  /** Distance from the middle of the nearest window. */
  const across = Math.abs(along - window * pitch - pitch / 2)

  const isWindow = across < HALF_WINDOW && up > SILL && up < LINTEL
  if (isWindow) {
    const isFrame =
      across > HALF_WINDOW - 0.06 ||
      across < 0.03 ||
      up < SILL + 0.06 ||
      up > LINTEL - 0.06 ||
      Math.abs(up - 1.9) < 0.025
    if (isFrame) {
      set(colour, 0.55, 0.55, 0.55)
      return 0
    }
    const mirrored = shadeGlass()
    const isCurtain = hash(window, floor, plan.salt + 3) < 0.45 && across > 0.18
    if (!isCurtain) return mirrored
    set(colour, 0.38, 0.36, 0.33)
    return mirrored * 0.5
  }

  const isSurround = across < HALF_WINDOW + 0.12 && up > SILL - 0.1 && up < LINTEL + 0.12
  const isBesideWindow =
    across > HALF_WINDOW + 0.03 && across < HALF_WINDOW + 0.45 && up > SILL && up < LINTEL
  if (isSurround) {
    for (let i = 0; i < 3; i++) colour[i] = colour[i]! * 0.4 + 0.3
  } else if (plan.wall === 'shutters' && isBesideWindow) {
    const slat = 0.6 + 0.4 * ((z % 0.09) / 0.09)
    set(colour, 0.1 * slat, 0.19 * slat, 0.17 * slat)
  }
  return 0
}

function set(colour: MutableRgb, r: number, g: number, b: number): void {
  colour[0] = r
  colour[1] = g
  colour[2] = b
}

function scale(colour: MutableRgb, factor: number): void {
  colour[0] *= factor
  colour[1] *= factor
  colour[2] *= factor
}
