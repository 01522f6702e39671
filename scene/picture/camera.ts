import { cos, sin, tan } from '../maths/arithmetic.ts'
import type { Vector } from '../maths/vectors.ts'
import type { Layout } from '../street/layout.ts'

/** Points that are closer than this, or behind the camera, cannot be projected. */
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
    const cosPitch = cos(pose.pitch)
    const sinPitch = sin(pose.pitch)
    const cosYaw = cos(pose.yaw)
    const sinYaw = sin(pose.yaw)
    this.eye = pose.eye
    this.forward = [sinYaw * cosPitch, cosYaw * cosPitch, sinPitch]
    this.right = [cosYaw, -sinYaw, 0]
    this.up = [-sinYaw * sinPitch, -cosYaw * sinPitch, cosPitch]
    this.focal = height / 2 / tan(pose.fieldOfView / 2)
    this.width = width
    this.height = height
  }

  /**
   * Projects a point in metres. Writes pixel x, pixel y and inverse depth to `out` and returns it.
   * The inverse depth is -1 for a point behind the near plane.
   */
  project(x: number, y: number, z: number, out: number[]): number[] {
    const dx = x - this.eye[0]
    const dy = y - this.eye[1]
    const dz = z - this.eye[2]
    const { forward, right, up } = this
    const depth = dx * forward[0] + dy * forward[1] + dz * forward[2]
    const inverse = 1 / depth
    out[0] = this.width / 2 + this.focal * inverse * (dx * right[0] + dy * right[1])
    out[1] = this.height / 2 - this.focal * inverse * (dx * up[0] + dy * up[1] + dz * up[2])
    out[2] = depth > NEAR_PLANE_M ? inverse : -1
    return out
  }
}
