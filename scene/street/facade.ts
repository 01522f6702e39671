import type { Rgb } from '../graphics/colour.ts'
import { fractalNoise, hash, valueNoise } from '../maths/noise.ts'

/** The parameters of a facade. Lengths are in metres; `x0` is the left edge. */
export interface FacadePlan {
  x0: number
  width: number
  wall: 'plaster' | 'brick' | 'shutters'
  salt: number
  shop: Rgb
  groundFloor: number
  windowSpacing: number
}

const STOREY_HEIGHT_M = 3.1
const SIDE_WALL_WIDTH_M = 14

/** Applies the procedural texture at a point of the wall to `colour`. Returns the share of reflected sky. */
export function shadeFacade(
  plan: FacadePlan,
  colour: [number, number, number],
  [along, z]: readonly [number, number],
  isFront: boolean,
  [rayX, rayZ]: readonly [number, number],
): number {
  const wallWidth = isFront ? plan.width : SIDE_WALL_WIDTH_M
  shadeWall(plan, colour, along, z)
  const glass = (): number => {
    const mirrored = 0.12 + 0.5 * fractalNoise(along * 0.5 + rayX * 3, z * 0.5 + rayZ * 4, plan.salt + 5, 3)
    set(colour, 0.012, 0.016, 0.02)
    return mirrored * 0.75
  }
  return z < plan.groundFloor
    ? shadeShopFront(plan, colour, along, z, wallWidth, glass)
    : shadeUpperFloor(plan, colour, along, z, wallWidth, glass)
}

function shadeWall(plan: FacadePlan, colour: [number, number, number], along: number, z: number): void {
  if (plan.wall !== 'brick') {
    scale(colour, 0.86 + 0.2 * fractalNoise(along * 0.7, z * 2, plan.salt, 4))
    return
  }
  const course = Math.floor(z / 0.075)
  const brick = Math.floor((along + (course & 1) * 0.12) / 0.24)
  const joint = z - course * 0.075 < 0.012
  scale(colour, joint ? 1.15 : 0.82 + 0.3 * hash(brick, course, plan.salt))
}

function shadeShopFront(
  plan: FacadePlan,
  colour: [number, number, number],
  along: number,
  z: number,
  wallWidth: number,
  glass: () => number,
): number {
  const windows = Math.max(2, Math.floor(wallWidth / 2.6))
  const pitch = wallWidth / windows
  const window = Math.floor(along / pitch)
  const across = along - window * pitch
  const betweenPosts = across > 0.16 && across < pitch - 0.16
  const sill = hash(window, 1, plan.salt) < 0.3 ? 0.06 : 0.5 // 0.06: a door
  if (z > plan.groundFloor - 0.75) {
    set(colour, ...plan.shop)
    if (isLettering(plan, along, z, wallWidth)) set(colour, 0.62, 0.62, 0.62)
    return 0
  }
  if (betweenPosts && z > sill && z < plan.groundFloor - 0.85) {
    const bar = Math.abs(across - pitch / 2) < 0.035 || (z > 2.15 && z < 2.21)
    if (bar) {
      set(colour, plan.shop[0] * 0.8, plan.shop[1] * 0.8, plan.shop[2] * 0.8)
      return 0
    }
    const mirrored = glass()
    const goods = z < 1.5 && valueNoise(along * 2.5, z * 3, plan.salt + 9) > 0.55
    if (!goods) return mirrored
    const cell = Math.floor(along * 3)
    colour[0] += 0.1 * hash(cell, Math.floor(z * 3), plan.salt)
    colour[1] += 0.08 * hash(cell, 3, plan.salt)
    colour[2] += 0.06
    return mirrored * 0.6
  }
  if (!betweenPosts) for (let i = 0; i < 3; i++) colour[i] = colour[i]! * 0.25 + plan.shop[i]! * 0.7
  return 0
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

function shadeUpperFloor(
  plan: FacadePlan,
  colour: [number, number, number],
  along: number,
  z: number,
  wallWidth: number,
  glass: () => number,
): number {
  const up = (z - plan.groundFloor) % STOREY_HEIGHT_M
  const floor = Math.floor((z - plan.groundFloor) / STOREY_HEIGHT_M)
  const windows = Math.max(2, Math.floor(wallWidth / plan.windowSpacing))
  const pitch = wallWidth / windows
  const window = Math.floor(along / pitch)
  const across = Math.abs(along - window * pitch - pitch / 2)
  const [half, sill, lintel] = [0.52, 0.85, 2.45]
  if (across < half && up > sill && up < lintel) {
    const frame =
      across > half - 0.06 ||
      across < 0.03 ||
      up < sill + 0.06 ||
      up > lintel - 0.06 ||
      Math.abs(up - 1.9) < 0.025
    if (frame) {
      set(colour, 0.55, 0.55, 0.55)
      return 0
    }
    const mirrored = glass()
    const curtain = hash(window, floor, plan.salt + 3) < 0.45 && across > 0.18
    if (!curtain) return mirrored
    set(colour, 0.38, 0.36, 0.33)
    return mirrored * 0.5
  }
  if (across < half + 0.12 && up > sill - 0.1 && up < lintel + 0.12) {
    for (let i = 0; i < 3; i++) colour[i] = colour[i]! * 0.4 + 0.3
  } else if (
    plan.wall === 'shutters' &&
    across > half + 0.03 &&
    across < half + 0.45 &&
    up > sill &&
    up < lintel
  ) {
    const slat = 0.6 + 0.4 * ((z % 0.09) / 0.09)
    set(colour, 0.1 * slat, 0.19 * slat, 0.17 * slat)
  }
  return 0
}

function set(colour: [number, number, number], r: number, g: number, b: number): void {
  colour[0] = r
  colour[1] = g
  colour[2] = b
}

function scale(colour: [number, number, number], k: number): void {
  colour[0] *= k
  colour[1] *= k
  colour[2] *= k
}
