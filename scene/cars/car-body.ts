import { type Rgb, scaleColour, toLinearRgb } from '../graphics/colour.ts'
import type { Mesh } from '../graphics/mesh.ts'
import { cos, sin, TAU } from '../maths/arithmetic.ts'
import { type CarAppearance, type CarKind, type CarPose, DARK, getBeltHeight } from './car-appearance.ts'

const HEADLAMP = toLinearRgb(0xf4f2e6)
const PLATE = toLinearRgb(0xd8d8cc)
const BRAKE_LIGHT: Rgb = [1.6, 0.06, 0.04]

/**
 * Returns the cross-sections of the body from tail to nose. Each consists of its position along the car and its half width,
 * as shares of half the length and half the width of the car, and of its bottom and top in metres.
 */
function getBodySections(kind: CarKind): [number, number, number, number][] {
  const belt = getBeltHeight(kind)
  const hood = kind === 'van' || kind === 'suv' ? 0.98 : 0.83
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

const BODY_SIDES = 20

/** Adds the body below the windows, with lamps, grille and number plates. */
export function addBody(mesh: Mesh, appearance: CarAppearance, pose: CarPose): void {
  const { x, y, hx, hy } = pose
  const halfLength = appearance.length / 2
  const halfWidth = appearance.width / 2
  const sections = getBodySections(appearance.kind)
  for (const [t, w, bottom, top] of sections) {
    const f = t * halfLength
    // biome-ignore format: centre, right axis, up axis
    mesh.addRing(
      x + hx * f, y + hy * f, (bottom + top) / 2,
      hy * halfWidth * w, -hx * halfWidth * w, 0,
      0, 0, (top - bottom) / 2,
    )
  }
  const nose = sections.length - 2
  const skin = (ring: number, side: number): Rgb => {
    const angle = ((side + 1) / BODY_SIDES) * TAU
    const up = sin(angle)
    const out = Math.abs(cos(angle))
    if (ring === nose) {
      if (up > 0.1 && out > 0.55 && up < 0.85) return HEADLAMP
      if (up < -0.1) return DARK
    }
    if (ring === 0) {
      if (up > -0.1 && out > 0.55) return pose.isBraking ? BRAKE_LIGHT : [0.35, 0.02, 0.02]
      if (up < -0.5) return DARK
    }
    if (ring === nose - 1 && up < -0.35) return scaleColour(appearance.paint, 0.5)
    return up < -0.62 ? DARK : appearance.paint
  }
  const first = mesh.loft(BODY_SIDES, skin, 0.7, 0.62)
  for (const end of [-1, 1]) {
    const ring = end < 0 ? 0 : sections.length - 1
    const [, , bottom, top] = sections[ring]!
    const centre = mesh.addVertex(
      x + hx * end * halfLength * 1.002,
      y + hy * end * halfLength * 1.002,
      (bottom + top) / 2,
    )
    mesh.normals[centre * 3] = hx * end
    mesh.normals[centre * 3 + 1] = hy * end
    for (let s = 0; s < BODY_SIDES; s++) {
      const angle = ((s + 0.5) / BODY_SIDES) * TAU + TAU / BODY_SIDES / 2
      const colour = getEndColour(appearance, pose, end, sin(angle), Math.abs(cos(angle)))
      const a = first + ring * BODY_SIDES + s
      const b = first + ring * BODY_SIDES + ((s + 1) % BODY_SIDES)
      mesh.addTriangle(a, b, centre, colour, 0.4)
    }
  }
}

/** Returns the colour of a face at the nose (end 1) or tail (end -1): lamps, grille or number plate. */
function getEndColour(appearance: CarAppearance, pose: CarPose, end: number, up: number, out: number): Rgb {
  if (end > 0) {
    if (up > 0.15 && out > 0.6) return [1.0, 0.98, 0.9]
    return up < 0.45 && out < 0.8 ? scaleColour(DARK, 1.5) : appearance.paint
  }
  if (out > 0.72 && up > -0.3) return pose.isBraking ? BRAKE_LIGHT : [0.4, 0.02, 0.02]
  if (up < -0.6) return DARK
  return out < 0.35 ? PLATE : appearance.paint
}
