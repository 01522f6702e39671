import { cos, sin } from '../maths/arithmetic.ts'
import { paint } from '../picture/colour.ts'
import type { Mesh } from '../picture/mesh.ts'
import { type CarLook, DARK } from './look.ts'
import type { CarPose } from './pose.ts'

const TYRE = paint(0x141414)

/** Radius and place across of each ring of a wheel, as shares of tyre radius and half width. */
const WHEEL = [
  [1, 0.7],
  [1, 0.99],
  [0.93, 1.012],
  [0.7, 1.016],
  [0.66, 1.0],
  [0.28, 1.006],
] as const

/** A wheel and its arch; `along` and `side` say where, -1..1 of half the length and -1 or 1. */
export function addWheel(mesh: Mesh, look: CarLook, pose: CarPose, along: number, side: number): void {
  const { hx, hy, roll } = pose
  const halfWidth = look.width / 2
  const x = pose.x + hx * along * (look.length / 2)
  const y = pose.y + hy * along * (look.length / 2)
  const radius = look.kind === 'suv' || look.kind === 'van' ? 0.36 : 0.325
  for (const [r, out] of [
    [radius * 1.17, 0.997],
    [0.02, 1.001],
  ] as const)
    // biome-ignore format: centre, forward axis, up axis
    mesh.ring(
      x + hy * halfWidth * side * out, y - hx * halfWidth * side * out, radius + 0.01,
      hx * r, hy * r, 0,
      0, 0, r,
    )
  mesh.loft(16, DARK, 0)
  for (const [r, out] of [...WHEEL.map(([share, o]) => [radius * share, o] as const), [0.02, 1.012] as const])
    // biome-ignore format: centre, two turning axes
    mesh.ring(
      x + hy * halfWidth * side * out, y - hx * halfWidth * side * out, radius,
      hx * r * cos(roll), hy * r * cos(roll), -r * sin(roll),
      hx * r * sin(roll), hy * r * sin(roll), r * cos(roll),
    )
  mesh.loft(20, (ring, s) => (ring < 3 ? TYRE : ring === 4 && s % 4 >= 2 ? DARK : look.rim), 0.25)
}
