import type { Mesh } from '../graphics/mesh.ts'
import { clamp, sin } from '../maths/arithmetic.ts'
import type { World } from './backdrop.ts'
import { SUPERSAMPLING } from './backdrop.ts'

const CAPACITY = 1 << 16
const SHADOW_CELLS = [
  [0, 0],
  [2, 0],
  [-2, 0],
  [0, 2],
  [0, -2],
] as const

/** A rectangle in pixels. */
export interface Bounds {
  left: number
  top: number
  right: number
  bottom: number
}

/** A mesh projected into the picture, with lighting per vertex (Gouraud) and its shadow on the ground. */
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
  bounds: Bounds = emptyBounds()
  shadowBounds: Bounds = emptyBounds()
  readonly #world: World
  readonly #point = [0, 0, 0]

  constructor(world: World) {
    this.#world = world
  }

  /**
   * Projects a mesh, replacing the previous one. `sunStrength` (0..1) is the share of sunlight not blocked by clouds.
   * Glossy meshes reflect an uneven sky.
   */
  project(mesh: Mesh, sunStrength: number, isGlossy: boolean): void {
    const { camera, layout } = this.#world
    const sun = layout.light.sun
    const p = this.#point
    this.bounds = emptyBounds()
    this.shadowBounds = emptyBounds()
    for (let i = 0; i < mesh.vertexCount; i++) {
      const x = mesh.positions[i * 3]!
      const y = mesh.positions[i * 3 + 1]!
      const z = mesh.positions[i * 3 + 2]!
      camera.project(x, y, z, p)
      this.x[i] = p[0]! * SUPERSAMPLING
      this.y[i] = p[1]! * SUPERSAMPLING
      this.depth[i] = p[2]!
      extend(this.bounds, p[0]!, p[1]!)
      this.#light(i, mesh, x, y, z, sunStrength, isGlossy)
      const k = z / sun[2]
      camera.project(x - sun[0] * k, y - sun[1] * k, 0, p)
      this.shadowX[i] = p[0]!
      this.shadowY[i] = p[1]!
      extend(this.shadowBounds, p[0]!, p[1]!)
    }
  }

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
    let vx = camera.eye[0] - x
    let vy = camera.eye[1] - y
    let vz = camera.eye[2] - z
    const k = 1 / Math.sqrt(vx * vx + vy * vy + vz * vz)
    vx *= k
    vy *= k
    vz *= k
    const facing = nx * vx + ny * vy + nz * vz
    this.facingCamera[i] = facing
    this.facingSun[i] = facingSun
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
    this.mirrored[i] = skyMirrored * fresnel + highlight * 1.3 * reach * sunStrength * (1 - overcast)
  }

  /** Returns the share of the sun that the static world does not hide from a point. */
  #sampleSunVisibility(x: number, y: number, z: number): number {
    const { shadows, layout } = this.#world
    const { sun } = layout.light
    const bias = 0.15 // metres towards the sun, against self-shadowing
    const p = this.#point
    shadows.project(x + sun[0] * bias, y + sun[1] * bias, z + sun[2] * bias, p)
    const cellX = p[0]! | 0
    const cellY = p[1]! | 0
    const limit = shadows.size - 2
    if (!(cellX > 1 && cellY > 1 && cellX < limit && cellY < limit)) return 1
    let lit = 0
    for (const [dx, dy] of SHADOW_CELLS)
      if (shadows.depth[(cellY + dy) * shadows.size + cellX + dx]! < p[2]!) lit++
    return lit / SHADOW_CELLS.length
  }
}

function emptyBounds(): Bounds {
  return { left: 1e9, top: 1e9, right: -1e9, bottom: -1e9 }
}

function extend(bounds: Bounds, x: number, y: number): void {
  if (x < bounds.left) bounds.left = x
  if (x > bounds.right) bounds.right = x
  if (y < bounds.top) bounds.top = y
  if (y > bounds.bottom) bounds.bottom = y
}
