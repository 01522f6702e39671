import { cos, sin, tan } from '../maths/arithmetic.ts'
import type { Layout, Vector } from '../street/layout.ts'

const NEAR_PLANE_M = 0.3

/** A pinhole camera with a picture of `width` × `height` pixels. */
export class Camera {
  readonly eye: Vector
  readonly forward: Vector
  readonly right: Vector
  readonly up: Vector
  /** Focal length in pixels. */
  readonly focal: number
  readonly width: number
  readonly height: number

  constructor(pose: Layout['camera'], width: number, height: number) {
    const cp = cos(pose.pitch)
    const sp = sin(pose.pitch)
    const sy = sin(pose.yaw)
    const cy = cos(pose.yaw)
    this.eye = pose.eye
    this.forward = [sy * cp, cy * cp, sp]
    this.right = [cy, -sy, 0]
    this.up = [-sy * sp, -cy * sp, cp]
    this.focal = height / 2 / tan(pose.fieldOfView / 2)
    this.width = width
    this.height = height
  }

  /**
   * Projects a point in metres. Writes pixel x, pixel y and inverse depth to `out` and returns it. The inverse depth is -1
   * for a point behind the near plane.
   */
  project(x: number, y: number, z: number, out: number[]): number[] {
    const dx = x - this.eye[0]
    const dy = y - this.eye[1]
    const dz = z - this.eye[2]
    const { forward: f, right: r, up: u } = this
    const depth = dx * f[0] + dy * f[1] + dz * f[2]
    const inverse = 1 / depth
    out[0] = this.width / 2 + this.focal * inverse * (dx * r[0] + dy * r[1])
    out[1] = this.height / 2 - this.focal * inverse * (dx * u[0] + dy * u[1] + dz * u[2])
    out[2] = depth > NEAR_PLANE_M ? inverse : -1
    return out
  }
}
