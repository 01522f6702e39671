import { drawDepth } from '../graphics/rasteriser.ts'
import type { Vector } from '../maths/vectors.ts'
import type { Triangle } from '../street/site.ts'

/** Number of cells along each axis. */
const SIZE = 2048
/** Middle of the map, and the distance from it to each side. */
const CENTRE: Vector = [4, 14, 0]
const EXTENT_M = 34
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

  /**
   * Projects a point. Writes cell x, cell y and proximity to the sun in metres to
   * `out`, and returns it.
   */
  project(x: number, y: number, z: number, out: number[]): number[] {
    const dx = x - CENTRE[0]
    const dy = y - CENTRE[1]
    const sun = this.#sun
    const right = this.#right
    const up = this.#up
    out[0] = SIZE / 2 + CELLS_PER_M * (dx * right[0] + dy * right[1])
    out[1] = SIZE / 2 + CELLS_PER_M * (dx * up[0] + dy * up[1] + z * up[2])
    out[2] = dx * sun[0] + dy * sun[1] + z * sun[2] + DEPTH_OFFSET_M
    return out
  }
}
