import type { Mesh } from '../graphics/mesh.ts'
import { clamp, sin } from '../maths/arithmetic.ts'
import type { World } from './backdrop.ts'
import { SUPERSAMPLING } from './backdrop.ts'

const CAPACITY = 1 << 16
/**
 * Offsets of the cells of the shadow map that are sampled for a vertex, so that the edges
 * of shadows are soft.
 */
const SHADOW_CELLS = [
  [0, 0],
  [2, 0],
  [-2, 0],
  [0, 2],
  [0, -2],
] as const

/**
 * Points are moved this far towards the sun, so that a surface does not cast a shadow on itself.
 */
const SHADOW_BIAS_M = 0.15

/** A rectangle in pixels. */
export interface Bounds {
  left: number
  top: number
  right: number
  bottom: number
}

/**
 * A mesh projected into the picture, with lighting per vertex (Gouraud) and its
 * shadow on the ground.
 */
export class ProjectedMesh {
  /** Positions of the vertices in fine samples, and inverse distances. */
  readonly x = new Float64Array(CAPACITY)
  readonly y = new Float64Array(CAPACITY)
  readonly depth = new Float64Array(CAPACITY)
  /** Shares of skylight and sunlight that reach each vertex, and reflected light. */
  readonly sky = new Float32Array(CAPACITY)
  readonly sun = new Float32Array(CAPACITY)
  readonly mirrored = new Float32Array(CAPACITY)
  /** Cosines between the normal and the directions to the camera and to the sun. */
  readonly facingCamera = new Float32Array(CAPACITY)
  readonly facingSun = new Float32Array(CAPACITY)
  /** Positions of the shadows of the vertices on the ground, in pixels. */
  readonly shadowX = new Float64Array(CAPACITY)
  readonly shadowY = new Float64Array(CAPACITY)
  bounds: Bounds = createEmptyBounds()
  shadowBounds: Bounds = createEmptyBounds()
  readonly #world: World
  /** Scratch space for a projected point, which saves an allocation per vertex. */
  readonly #point = [0, 0, 0]

  constructor(world: World) {
    this.#world = world
  }

  /**
   * Projects a mesh, replacing the previous one. `sunStrength` (0..1) is the share of sunlight not
   * blocked by clouds. Glossy meshes reflect an uneven sky.
   */
  project(mesh: Mesh, sunStrength: number, isGlossy: boolean): void {
    const { camera, layout } = this.#world
    const sun = layout.light.sun
    const point = this.#point
    this.bounds = createEmptyBounds()
    this.shadowBounds = createEmptyBounds()
    for (let i = 0; i < mesh.vertexCount; i++) {
      const x = mesh.positions[i * 3]!
      const y = mesh.positions[i * 3 + 1]!
      const z = mesh.positions[i * 3 + 2]!
      camera.project(x, y, z, point)
      this.x[i] = point[0]! * SUPERSAMPLING
      this.y[i] = point[1]! * SUPERSAMPLING
      this.depth[i] = point[2]!
      extend(this.bounds, point[0]!, point[1]!)
      this.#light(i, mesh, x, y, z, sunStrength, isGlossy)

      // The shadow is where the ray from the sun through the vertex meets the ground.
      const distance = z / sun[2]
      camera.project(x - sun[0] * distance, y - sun[1] * distance, 0, point)
      this.shadowX[i] = point[0]!
      this.shadowY[i] = point[1]!
      extend(this.shadowBounds, point[0]!, point[1]!)
    }
  }

  /**
   * Computes the light that reaches vertex `i`, at this position, and that it
   * reflects towards the camera.
   */
  #light(
    i: number,
    mesh: Mesh,
    x: number,
    y: number,
    z: number,
    sunStrength: number,
    isGlossy: boolean,
  ): void {
    const { camera, layout } = this.#world
    const { sun, overcast } = layout.light
    const nx = mesh.normals[i * 3]!
    const ny = mesh.normals[i * 3 + 1]!
    const nz = mesh.normals[i * 3 + 2]!
    const facingSun = nx * sun[0] + ny * sun[1] + nz * sun[2]
    const reach = facingSun > 0 ? this.#sampleSunVisibility(x, y, z) : 0
    const nearGround = clamp(0.55 + z * 0.6, 0, 1)
    this.sky[i] = (0.5 + 0.5 * nz) * nearGround
    this.sun[i] = Math.max(0, facingSun) * reach * sunStrength

    // The direction to the camera.
    let vx = camera.eye[0] - x
    let vy = camera.eye[1] - y
    let vz = camera.eye[2] - z
    const scale = 1 / Math.sqrt(vx * vx + vy * vy + vz * vz)
    vx *= scale
    vy *= scale
    vz *= scale
    const facing = nx * vx + ny * vy + nz * vz
    this.facingCamera[i] = facing
    this.facingSun[i] = facingSun

    // The direction from which light is mirrored to the camera.
    const rx = 2 * facing * nx - vx
    const ry = 2 * facing * ny - vy
    const rz = 2 * facing * nz - vz
    const grazing = 1 - Math.max(0, facing)
    const grazing2 = grazing * grazing
    const uneven = isGlossy ? 0.75 + 0.25 * sin(rx * 9 + 1) * sin(ry * 7) : 0.75
    const skyMirrored = clamp(rz * 2.2 + 0.25, 0, 1) * uneven
    let highlight = Math.max(0, rx * sun[0] + ry * sun[1] + rz * sun[2])
    for (let power = 1; power < 32; power *= 2) highlight *= highlight
    const fresnel = 0.07 + 0.6 * grazing2 * grazing2 * grazing // Schlick's approximation
    this.mirrored[i] =
      skyMirrored * fresnel + highlight * 1.3 * reach * sunStrength * (1 - overcast)
  }

  /** Returns the share of the sun that the static world does not hide from a point. */
  #sampleSunVisibility(x: number, y: number, z: number): number {
    const { shadows, layout } = this.#world
    const { sun } = layout.light
    const point = this.#point
    shadows.project(
      x + sun[0] * SHADOW_BIAS_M,
      y + sun[1] * SHADOW_BIAS_M,
      z + sun[2] * SHADOW_BIAS_M,
      point,
    )
    const cellX = point[0]! | 0
    const cellY = point[1]! | 0
    const limit = shadows.size - 2
    const isInside = cellX > 1 && cellY > 1 && cellX < limit && cellY < limit
    if (!isInside) return 1

    let litCount = 0
    for (const [dx, dy] of SHADOW_CELLS) {
      const depth = shadows.depth[(cellY + dy) * shadows.size + cellX + dx]!
      if (depth < point[2]!) litCount++
    }
    return litCount / SHADOW_CELLS.length
  }
}

function createEmptyBounds(): Bounds {
  return { left: 1e9, top: 1e9, right: -1e9, bottom: -1e9 }
}

function extend(bounds: Bounds, x: number, y: number): void {
  if (x < bounds.left) bounds.left = x
  if (x > bounds.right) bounds.right = x
  if (y < bounds.top) bounds.top = y
  if (y > bounds.bottom) bounds.bottom = y
}
