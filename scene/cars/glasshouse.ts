import { type Rgb, scaleColour, toLinearRgb } from '../graphics/colour.ts'
import type { Mesh } from '../graphics/mesh.ts'
import { cos, sin, TAU } from '../maths/arithmetic.ts'
import {
  type CarAppearance,
  type CarKind,
  type CarPose,
  DARK,
  getBeltHeight,
} from './car-appearance.ts'

const GLASS = toLinearRgb(0x1a2128)

/**
 * Ends of the glasshouse, which is the body above the belt line, as shares of half
 * the length of the car.
 */
const ENDS: Record<
  CarKind,
  readonly [rear: number, front: number, roofRear: number, roofFront: number]
> = {
  hatch: [-0.93, 0.42, -0.8, 0.08],
  sedan: [-0.72, 0.42, -0.42, 0.1],
  suv: [-0.95, 0.42, -0.84, 0.12],
  van: [-0.97, 0.66, -0.95, 0.36],
}

const SIDES = 28
/**
 * The rings from the belt line to the roof: height as a share of the glasshouse, and the factor by
 * which the ring is smaller.
 */
const RINGS: readonly (readonly [height: number, shrink: number])[] = [
  [0, 1],
  [0.05, 1],
  [0.5, 1],
  [0.84, 1],
  [0.9, 1],
  [0.95, 0.97],
  [0.98, 0.9],
  [1, 0.6],
  [1.003, 0.05],
]
/** Height of the edge of the roof, up to which the walls lean inwards. */
const ROOF_EDGE = 0.9

/** Adds windows, pillars and roof. */
export function addGlasshouse(mesh: Mesh, appearance: CarAppearance, pose: CarPose): void {
  const { x, y, hx, hy } = pose
  const { kind } = appearance
  const halfLength = appearance.length / 2
  const halfWidth = appearance.width / 2
  const [rear, front, roofRear, roofFront] = ENDS[kind]
  const bottom = getBeltHeight(kind) - 0.03
  const totalHeight = appearance.height - bottom

  for (const [height, shrink] of RINGS) {
    const lean = Math.min(1, height / ROOF_EDGE)
    const back = (rear + (roofRear - rear) * lean) * halfLength
    const fore = (front + (roofFront - front) * lean) * halfLength
    const middle = (back + fore) / 2
    const right = halfWidth * (0.965 - (kind === 'van' ? 0.1 : 0.2) * lean) * shrink
    const forward = ((fore - back) / 2) * shrink
    mesh.addRing(
      [x + hx * middle, y + hy * middle, bottom + totalHeight * height],
      [hy * right, -hx * right, 0],
      [hx * forward, hy * forward, 0],
    )
  }
  mesh.loft({
    sides: SIDES,
    colour: (ring, side) => getColour(appearance, ring, side),
    gloss: 0.9,
    squareness: 0.72,
  })
}

/**
 * Returns the colour of a face. The rings 1 and 2 are the windows, between the body and the roof.
 */
function getColour({ kind, paint }: CarAppearance, ring: number, side: number): Rgb {
  if (ring < 1) return scaleColour(paint, 0.8)
  if (ring > 2) return paint

  const angle = ((side + 1) / SIDES) * TAU
  const forward = sin(angle)
  const out = Math.abs(cos(angle))
  const isCornerPillar = Math.abs(out - Math.abs(forward)) < 0.2
  if (isCornerPillar) return paint

  const isSideWindow = out > Math.abs(forward)
  if (!isSideWindow) return GLASS
  const isDoorPillar = Math.abs(forward / out - 0.04) < 0.13
  if (isDoorPillar) return DARK
  const isCargoSpace = kind === 'van' && forward < -0.1
  return isCargoSpace ? paint : GLASS
}
