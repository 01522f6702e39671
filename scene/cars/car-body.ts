import { type Rgb, scaleColour, toLinearRgb } from '../graphics/colour.ts'
import type { Mesh } from '../graphics/mesh.ts'
import { cos, sin, TAU } from '../maths/arithmetic.ts'
import {
  type CarAppearance,
  type CarKind,
  type CarPose,
  DARK,
  getBeltHeight,
  isTall,
} from './car-appearance.ts'

const HEADLAMP = toLinearRgb(0xf4f2e6)
const PLATE = toLinearRgb(0xd8d8cc)
const BRAKE_LIGHT: Rgb = [1.6, 0.06, 0.04]

/** Number of vertices of each cross-section. */
const SIDES = 20

/**
 * A cross-section of the body: its position along the car and its half width, as shares of half the
 * length and half the width of the car, and its bottom and top in metres.
 */
type Section = readonly [along: number, halfWidth: number, bottom: number, top: number]

/** Returns the cross-sections of the body from tail to nose. */
function getBodySections(kind: CarKind): Section[] {
  const belt = getBeltHeight(kind)
  const hood = isTall(kind) ? 0.98 : 0.83
  const tail = kind === 'sedan' ? 0.93 : belt
  return [
    [-1, 0.7, 0.52, tail * 0.8],
    [-0.992, 0.84, 0.42, tail * 0.9],
    [-0.95, 0.95, 0.34, tail * 0.975],
    [-0.86, 0.99, 0.3, tail],
    [-0.7, 1, 0.26, belt],
    [-0.35, 1, 0.24, belt],
    [0, 1, 0.24, belt],
    [0.3, 1, 0.24, belt],
    [0.48, 1, 0.25, belt * 0.6 + hood * 0.4],
    [0.7, 0.985, 0.27, hood],
    [0.86, 0.96, 0.3, hood * 0.955],
    [0.945, 0.9, 0.33, hood * 0.89],
    [0.985, 0.8, 0.38, hood * 0.8],
    [1, 0.66, 0.46, hood * 0.7],
  ]
}

/** Adds the body below the windows, with lamps, grille and number plates. */
export function addBody(mesh: Mesh, appearance: CarAppearance, pose: CarPose): void {
  const { x, y, hx, hy } = pose
  const sections = getBodySections(appearance.kind)
  for (const [along, halfWidth, bottom, top] of sections) {
    const forward = along * (appearance.length / 2)
    const right = (appearance.width / 2) * halfWidth
    mesh.addRing(
      [x + hx * forward, y + hy * forward, (bottom + top) / 2],
      [hy * right, -hx * right, 0],
      [0, 0, (top - bottom) / 2],
    )
  }

  const lastRing = sections.length - 2
  const firstVertex = mesh.loft({
    sides: SIDES,
    colour(ring, side) {
      const angle = ((side + 1) / SIDES) * TAU
      return getSideColour(appearance, pose, ring, lastRing, sin(angle), Math.abs(cos(angle)))
    },
    gloss: 0.7,
    squareness: 0.62,
  })
  const lastVertex = firstVertex + (sections.length - 1) * SIDES
  addEnd(mesh, appearance, pose, sections[0]!, firstVertex, -1)
  addEnd(mesh, appearance, pose, sections.at(-1)!, lastVertex, 1)
}

/**
 * Returns the colour of a face along the body. `up` is from -1 (bottom) to 1 (top), and `out` from
 * 0 (middle) to 1 (side). The first ring is at the tail.
 */
function getSideColour(
  { paint }: CarAppearance,
  pose: CarPose,
  ring: number,
  lastRing: number,
  up: number,
  out: number,
): Rgb {
  if (ring === lastRing) {
    if (up > 0.1 && out > 0.55 && up < 0.85) return HEADLAMP
    if (up < -0.1) return DARK
  }
  if (ring === 0) {
    if (up > -0.1 && out > 0.55) return pose.isBraking ? BRAKE_LIGHT : [0.35, 0.02, 0.02]
    if (up < -0.5) return DARK
  }
  if (ring === lastRing - 1 && up < -0.35) return scaleColour(paint, 0.5)
  return up < -0.62 ? DARK : paint
}

/**
 * Closes the body at the nose (`end` is 1) or at the tail (-1). `firstVertex` is the first vertex
 * of the cross-section there.
 */
function addEnd(
  mesh: Mesh,
  appearance: CarAppearance,
  pose: CarPose,
  [, , bottom, top]: Section,
  firstVertex: number,
  end: -1 | 1,
): void {
  const { x, y, hx, hy } = pose
  const forward = end * (appearance.length / 2) * 1.002
  const centre = mesh.addVertex(x + hx * forward, y + hy * forward, (bottom + top) / 2)
  mesh.normals[centre * 3] = hx * end
  mesh.normals[centre * 3 + 1] = hy * end

  for (let side = 0; side < SIDES; side++) {
    const angle = ((side + 0.5) / SIDES) * TAU + TAU / SIDES / 2
    const colour = getEndColour(appearance, pose, end, sin(angle), Math.abs(cos(angle)))
    mesh.addTriangle(firstVertex + side, firstVertex + ((side + 1) % SIDES), centre, colour, 0.4)
  }
}

/**
 * Returns the colour of a face at the nose (`end` is 1) or at the tail (-1): lamps,
 * grille or number plate.
 */
function getEndColour(
  appearance: CarAppearance,
  pose: CarPose,
  end: -1 | 1,
  up: number,
  out: number,
): Rgb {
  if (end > 0) {
    if (up > 0.15 && out > 0.6) return [1.0, 0.98, 0.9]
    return up < 0.45 && out < 0.8 ? scaleColour(DARK, 1.5) : appearance.paint
  }
  if (out > 0.72 && up > -0.3) return pose.isBraking ? BRAKE_LIGHT : [0.4, 0.02, 0.02]
  if (up < -0.6) return DARK
  return out < 0.35 ? PLATE : appearance.paint
}
