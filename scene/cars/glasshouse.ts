import { type Rgb, scaleColour, toLinearRgb } from '../graphics/colour.ts'
import type { Mesh } from '../graphics/mesh.ts'
import { cos, sin, TAU } from '../maths/arithmetic.ts'
import { type CarAppearance, type CarKind, type CarPose, DARK, getBeltHeight } from './car-appearance.ts'

const GLASS = toLinearRgb(0x1a2128)

/** Ends of the glasshouse, which is the body above the belt line, as shares of half the length of the car. */
const GLASSHOUSE_ENDS: Record<
  CarKind,
  readonly [rear: number, front: number, roofRear: number, roofFront: number]
> = {
  hatch: [-0.93, 0.42, -0.8, 0.08],
  sedan: [-0.72, 0.42, -0.42, 0.1],
  suv: [-0.95, 0.42, -0.84, 0.12],
  van: [-0.97, 0.66, -0.95, 0.36],
}

const GLASSHOUSE_SIDES = 28
/** Height of each ring as a share of the glasshouse, and the factor by which the ring is smaller at the edge of the roof. */
const GLASSHOUSE_RINGS = [
  [0, 1],
  [0.05, 1],
  [0.5, 1],
  [0.84, 1],
  [0.9, 1],
  [0.95, 0.97],
  [0.98, 0.9],
  [1, 0.6],
  [1.003, 0.05],
] as const

/** Adds windows, pillars and roof. */
export function addGlasshouse(mesh: Mesh, appearance: CarAppearance, pose: CarPose): void {
  const { x, y, hx, hy } = pose
  const halfLength = appearance.length / 2
  const halfWidth = appearance.width / 2
  const [rear, front, roofRear, roofFront] = GLASSHOUSE_ENDS[appearance.kind]
  const bottom = getBeltHeight(appearance.kind) - 0.03
  const height = appearance.height - bottom
  for (const [z, shrink] of GLASSHOUSE_RINGS) {
    const t = Math.min(1, z / 0.9)
    const back = (rear + (roofRear - rear) * t) * halfLength
    const fore = (front + (roofFront - front) * t) * halfLength
    const width = halfWidth * (0.965 - (appearance.kind === 'van' ? 0.1 : 0.2) * t)
    const middle = (back + fore) / 2
    const half = (fore - back) / 2
    // biome-ignore format: centre, right axis, forward axis
    mesh.addRing(
      x + hx * middle, y + hy * middle, bottom + height * z,
      hy * width * shrink, -hx * width * shrink, 0,
      hx * half * shrink, hy * half * shrink, 0,
    )
  }
  const skin = (ring: number, side: number): Rgb => {
    if (ring < 1) return scaleColour(appearance.paint, 0.8)
    if (ring > 2) return appearance.paint
    const angle = ((side + 1) / GLASSHOUSE_SIDES) * TAU
    const out = Math.abs(cos(angle))
    const forward = sin(angle)
    if (Math.abs(out - Math.abs(forward)) < 0.2) return appearance.paint // corner pillars
    if (out > Math.abs(forward)) {
      if (Math.abs(forward / out - 0.04) < 0.13) return DARK // door pillar
      if (appearance.kind === 'van' && forward < -0.1) return appearance.paint
    }
    return GLASS
  }
  mesh.loft(GLASSHOUSE_SIDES, skin, 0.9, 0.72)
}
