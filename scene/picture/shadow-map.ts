import { drawDepth } from '../graphics/rasteriser.ts'
import type { Vector } from '../street/layout.ts'
import type { Triangle } from '../street/site.ts'

/** Cells along each axis. */
const SIZE = 2048
/** Distance from the centre to each side. */
const EXTENT_M = 34
const CENTRE: Vector = [4, 14, 0]
const CELLS_PER_M = SIZE / 2 / EXTENT_M
/** Added to all depths, so that they are positive. */
const DEPTH_OFFSET_M = 1e4

/** A depth map of the static world, in an orthographic projection from the direction of the sun. */
export class ShadowMap {
  readonly size = SIZE
  readonly depth = new Float32Array(SIZE * SIZE)
  readonly #sun: Vector
  readonly #right: Vector
  readonly #up: Vector

  constructor(sun: Vector, triangles: readonly Triangle[]) {
    const length = Math.sqrt(sun[1] * sun[1] + sun[0] * sun[0]) || 1
    const right: Vector = [sun[1] / length, -sun[0] / length, 0]
    this.#sun = sun
    this.#right = right
    this.#up = [
      sun[1] * right[2] - sun[2] * right[1],
      sun[2] * right[0] - sun[0] * right[2],
      sun[0] * right[1] - sun[1] * right[0],
    ]
    const band = { width: SIZE, top: 0, bottom: SIZE, depth: this.depth }
    const points = [[], [], []] as number[][]
    for (const { corners } of triangles) {
      corners.forEach(([x, y, z], i) => {
        this.project(x, y, z, points[i]!)
      })
      drawDepth(band, points, 0)
    }
  }

  /** Projects a point. Writes cell x, cell y and proximity to the sun in metres to `out`, and returns it. */
  project(x: number, y: number, z: number, out: number[]): number[] {
    const a = x - CENTRE[0]
    const b = y - CENTRE[1]
    const s = this.#sun
    const r = this.#right
    const u = this.#up
    out[0] = SIZE / 2 + CELLS_PER_M * (a * r[0] + b * r[1])
    out[1] = SIZE / 2 + CELLS_PER_M * (a * u[0] + b * u[1] + z * u[2])
    out[2] = a * s[0] + b * s[1] + z * s[2] + DEPTH_OFFSET_M
    return out
  }
}
