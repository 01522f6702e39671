import type { Mesh } from '../picture/mesh.ts'
import { addBody } from './body.ts'
import { addGlasshouse } from './glasshouse.ts'
import { beltHeight, type CarLook } from './look.ts'
import type { CarPose } from './pose.ts'
import { addWheel } from './wheel.ts'

/** Adds a car to the mesh. */
export function addCar(mesh: Mesh, look: CarLook, pose: CarPose): void {
  addBody(mesh, look, pose)
  addGlasshouse(mesh, look, pose)
  for (const along of [-0.61, 0.62]) for (const side of [-1, 1]) addWheel(mesh, look, pose, along, side)
  addMirrors(mesh, look, pose)
}

function addMirrors(mesh: Mesh, look: CarLook, pose: CarPose): void {
  const { hx, hy } = pose
  const out = look.width / 2 + 0.07
  const z = beltHeight(look.kind) + 0.06
  for (const side of [-1, 1]) {
    const x = pose.x + hx * (look.length / 2) * 0.36 + hy * side * out
    const y = pose.y + hy * (look.length / 2) * 0.36 - hx * side * out
    mesh.ellipsoid(x, y, z, 0.11, 0.07, 0.08, hx, hy, 8, 5, look.paint, 0.5)
  }
}
