import { type Rgb, toLinearRgb } from '../graphics/colour.ts'
import type { Mesh } from '../graphics/mesh.ts'
import { cos, sin } from '../maths/arithmetic.ts'
import { type CarAppearance, type CarPose, DARK, getBeltHeight } from './car-appearance.ts'
import { addBody } from './car-body.ts'
import { addGlasshouse } from './glasshouse.ts'

/** Adds a car to a mesh. */
export function addCar(mesh: Mesh, appearance: CarAppearance, pose: CarPose): void {
  addBody(mesh, appearance, pose)
  addGlasshouse(mesh, appearance, pose)
  for (const along of [-0.61, 0.62]) for (const side of [-1, 1]) addWheel(mesh, appearance, pose, along, side)
  addMirrors(mesh, appearance, pose)
}

function addMirrors(mesh: Mesh, appearance: CarAppearance, pose: CarPose): void {
  const { hx, hy } = pose
  const out = appearance.width / 2 + 0.07
  const z = getBeltHeight(appearance.kind) + 0.06
  for (const side of [-1, 1]) {
    const x = pose.x + hx * (appearance.length / 2) * 0.36 + hy * side * out
    const y = pose.y + hy * (appearance.length / 2) * 0.36 - hx * side * out
    mesh.addEllipsoid(x, y, z, 0.11, 0.07, 0.08, hx, hy, 8, 5, appearance.paint, 0.5)
  }
}

const TYRE = toLinearRgb(0x141414)

/** Radius and lateral position of each ring of a wheel, as shares of the tyre radius and the car's half width. */
const WHEEL = [
  [1, 0.7],
  [1, 0.99],
  [0.93, 1.012],
  [0.7, 1.016],
  [0.66, 1.0],
  [0.28, 1.006],
] as const

/** Adds a wheel and its arch. `along` is the position along the car (-1: tail, 1: nose), `side` is -1 (left) or 1 (right). */
function addWheel(mesh: Mesh, appearance: CarAppearance, pose: CarPose, along: number, side: number): void {
  const { hx, hy, wheelAngle } = pose
  const halfWidth = appearance.width / 2
  const x = pose.x + hx * along * (appearance.length / 2)
  const y = pose.y + hy * along * (appearance.length / 2)
  const radius = appearance.kind === 'suv' || appearance.kind === 'van' ? 0.36 : 0.325
  for (const [r, out] of [
    [radius * 1.17, 0.997],
    [0.02, 1.001],
  ] as const)
    // biome-ignore format: centre, forward axis, up axis
    mesh.addRing(
      x + hy * halfWidth * side * out, y - hx * halfWidth * side * out, radius + 0.01,
      hx * r, hy * r, 0,
      0, 0, r,
    )
  mesh.loft(16, DARK, 0)
  for (const [r, out] of [...WHEEL.map(([share, o]) => [radius * share, o] as const), [0.02, 1.012] as const])
    // biome-ignore format: centre, two turning axes
    mesh.addRing(
      x + hy * halfWidth * side * out, y - hx * halfWidth * side * out, radius,
      hx * r * cos(wheelAngle), hy * r * cos(wheelAngle), -r * sin(wheelAngle),
      hx * r * sin(wheelAngle), hy * r * sin(wheelAngle), r * cos(wheelAngle),
    )
  const getColour = (ring: number, side: number): Rgb => {
    if (ring < 3) return TYRE
    const isBetweenSpokes = ring === 4 && side % 4 >= 2
    return isBetweenSpokes ? DARK : appearance.rim
  }
  mesh.loft(20, getColour, 0.25)
}
