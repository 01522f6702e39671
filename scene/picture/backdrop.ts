import { toneMap } from '../graphics/colour.ts'
import { drawDepth } from '../graphics/rasteriser.ts'
import { smoothstep } from '../maths/arithmetic.ts'
import { fractalNoise, hash, valueNoise } from '../maths/noise.ts'
import type { Vector } from '../maths/vectors.ts'
import { shadeFacade } from '../street/facade.ts'
import { createGround, type Ground } from '../street/ground.ts'
import type { Layout } from '../street/layout.ts'
import type { Triangle } from '../street/site.ts'
import type { Camera } from './camera.ts'
import type { ShadowMap } from './shadow-map.ts'

/** Samples per pixel along each axis. */
export const SUPERSAMPLING = 2
const GROUND = -1
const SKY = -2
const SHADOW_SAMPLES = 12

/**
 * The static world, rendered once in full sunlight and once in shade. Clouds and moving shadows
 * blend the two versions. The `fine` buffers contain `SUPERSAMPLING`² samples per pixel, the
 * `coarse` buffers one.
 */
export interface Backdrop {
  fineLit: Uint8Array
  fineShaded: Uint8Array
  coarseLit: Uint8Array
  coarseShaded: Uint8Array
  /** Inverse distance of each fine sample; 0 in the sky. */
  depth: Float32Array
  /** 1 if a fine sample shows the ground, which receives moving shadows. */
  isGround: Uint8Array
}

/** Allocates a backdrop in shared memory. Threads render it in bands. */
export function createBackdrop(width: number, height: number): Backdrop {
  const pixels = width * height
  const samples = pixels * SUPERSAMPLING * SUPERSAMPLING
  const bytes = (length: number): Uint8Array => new Uint8Array(new SharedArrayBuffer(length))
  return {
    fineLit: bytes(samples * 3),
    fineShaded: bytes(samples * 3),
    coarseLit: bytes(pixels * 3),
    coarseShaded: bytes(pixels * 3),
    depth: new Float32Array(new SharedArrayBuffer(samples * 4)),
    isGround: bytes(samples),
  }
}

/** The static world and the camera. */
export interface World {
  layout: Layout
  camera: Camera
  triangles: readonly Triangle[]
  shadows: ShadowMap
}

/** Scratch space for a projected point, which saves an allocation per sample. */
const shadowCell: number[] = [0, 0, 0]

/** Renders the pixel rows from `top` to `bottom` (exclusive) of the backdrop. */
export function renderBackdrop(
  backdrop: Backdrop,
  world: World,
  top: number,
  bottom: number,
): void {
  new BackdropBand(backdrop, world, top, bottom).render()
}

class BackdropBand {
  readonly #backdrop: Backdrop
  readonly #world: World
  readonly #ground: Ground
  readonly #width: number
  readonly #height: number
  readonly #top: number
  readonly #bottom: number
  readonly #ids: Int32Array
  readonly #depth: Float32Array

  constructor(backdrop: Backdrop, world: World, top: number, bottom: number) {
    this.#backdrop = backdrop
    this.#world = world
    this.#ground = createGround(world.layout)
    this.#width = world.camera.width * SUPERSAMPLING
    this.#height = world.camera.height * SUPERSAMPLING
    this.#top = top * SUPERSAMPLING
    this.#bottom = bottom * SUPERSAMPLING
    this.#depth = backdrop.depth.subarray(this.#top * this.#width, this.#bottom * this.#width)
    this.#ids = new Int32Array(this.#depth.length).fill(GROUND)
  }

  render(): void {
    this.#drawGround()
    this.#drawTriangles()
    for (let y = this.#top; y < this.#bottom; y++) {
      for (let x = 0; x < this.#width; x++) this.#shade(x, y)
    }
    const { fineLit, fineShaded, coarseLit, coarseShaded } = this.#backdrop
    this.#downsample(fineLit, coarseLit)
    this.#downsample(fineShaded, coarseShaded)
  }

  /**
   * Returns the direction of the ray through the centre of a fine sample. Its component
   * along the view axis is 1.
   */
  #ray(x: number, y: number): Vector {
    const { forward, right, up, focal } = this.#world.camera
    const fineFocal = focal * SUPERSAMPLING
    const a = (x + 0.5 - this.#width / 2) / fineFocal
    const b = (this.#height / 2 - y - 0.5) / fineFocal
    return [
      forward[0] + right[0] * a + up[0] * b,
      forward[1] + right[1] * a + up[1] * b,
      forward[2] + right[2] * a + up[2] * b,
    ]
  }

  #drawGround(): void {
    const eyeHeight = this.#world.camera.eye[2]
    for (let y = this.#top; y < this.#bottom; y++) {
      const descent = this.#ray(0, y)[2] // constant along a row because the camera does not roll
      const row = (y - this.#top) * this.#width
      if (descent < -1e-6) this.#depth.fill(-descent / eyeHeight, row, row + this.#width)
      else {
        this.#depth.fill(0, row, row + this.#width)
        this.#ids.fill(SKY, row, row + this.#width)
      }
    }
  }

  #drawTriangles(): void {
    const points = [[], [], []] as number[][]
    // biome-ignore format: fits on two lines
    const band = {
      width: this.#width, top: this.#top, bottom: this.#bottom, depth: this.#depth, ids: this.#ids,
    }
    this.#world.triangles.forEach(({ corners }, id) => {
      corners.forEach(([x, y, z], i) => {
        const point = this.#world.camera.project(x, y, z, points[i]!)
        point[0]! *= SUPERSAMPLING
        point[1]! *= SUPERSAMPLING
      })
      if (points.every(point => point[2]! >= 0)) drawDepth(band, points, id)
    })
  }

  #shade(x: number, y: number): void {
    const o = (y - this.#top) * this.#width + x
    const sample = (y * this.#width + x) * 3
    const id = this.#ids[o]!
    const ray = this.#ray(x, y)
    if (id === SKY) {
      this.#shadeSky(sample, ray)
      return
    }
    const { layout, camera, triangles } = this.#world
    const distance = 1 / this.#depth[o]!
    const at: Vector = [
      camera.eye[0] + ray[0] * distance,
      camera.eye[1] + ray[1] * distance,
      camera.eye[2] + ray[2] * distance,
    ]
    if (id === GROUND) {
      this.#backdrop.isGround[sample / 3] = 1
      const nearWall = at[1] > layout.facadeY - 1.5
      const open = nearWall
        ? 0.6 + 0.4 * smoothstep(layout.facadeY, layout.facadeY - 1.5, at[1])
        : 1
      this.#light(sample, x, y, at, [0, 0, 1], this.#ground(at[0], at[1], distance), open, 0, false)
      return
    }
    const triangle = triangles[id]!
    const normal = computeNormal(triangle, at, ray)
    const grain = 0.86 + 0.28 * valueNoise(at[0] * 9 + at[1] * 3, at[2] * 9 + at[1] * 5, 5)
    const [r, g, b] = triangle.colour
    const colour: [number, number, number] = [r * grain, g * grain, b * grain]
    let open = 1
    let mirrored = 0
    if (triangle.facade) {
      const isFront = Math.abs(normal[1]) > 0.5
      const along = isFront ? at[0] - triangle.facade.x0 : at[1] - layout.facadeY
      mirrored = shadeFacade(triangle.facade, colour, [along, at[2]], isFront, [ray[0], ray[2]])
      open = 0.75 + 0.25 * smoothstep(0, 1.2, at[2])
    }
    this.#light(sample, x, y, at, normal, colour, open, mirrored, triangle.leafNormal !== undefined)
  }

  #shadeSky(sample: number, ray: Vector): void {
    const u = (ray[0] / (ray[2] + 0.12)) * 0.5 + 7
    const v = (ray[1] / (ray[2] + 0.12)) * 0.5
    const cloud = smoothstep(0.42, 0.7, fractalNoise(u, v, 3, 4))
    const colour = [toneMap(0.42 + 0.5 * cloud), toneMap(0.6 + 0.3 * cloud), toneMap(0.95)]
    this.#backdrop.fineLit.set(colour, sample)
    this.#backdrop.fineShaded.set(colour, sample)
  }

  /**
   * Writes the shaded sample (sky and ground light only) and the lit one (plus direct sunlight).
   */
  #light(
    sample: number,
    x: number,
    y: number,
    at: Vector,
    normal: Vector,
    colour: readonly [number, number, number],
    open: number,
    mirrored: number,
    isLeaf: boolean,
  ): void {
    const { sun, sunlight, skylight, groundlight } = this.#world.layout.light
    const facing = normal[0] * sun[0] + normal[1] * sun[1] + normal[2] * sun[2]
    const reach = facing > 0 || isLeaf ? this.#sampleSunVisibility(x, y, at, normal) : 0
    const direct = isLeaf
      ? reach * (0.25 + 0.75 * Math.max(0, facing))
      : Math.max(0, facing) * reach
    const up = 0.5 + 0.5 * normal[2]
    for (let c = 0; c < 3; c++) {
      const ambient = (groundlight[c]! * (1 - up) + skylight[c]! * up) * open
      const shaded = colour[c]! * ambient + mirrored * skylight[c]! * 0.9
      this.#backdrop.fineShaded[sample + c] = toneMap(shaded)
      this.#backdrop.fineLit[sample + c] = toneMap(shaded + colour[c]! * direct * sunlight[c]!)
    }
  }

  /**
   * Returns the share of the sun that is visible from a point. Jittered samples of the shadow map
   * make the edges soft.
   */
  #sampleSunVisibility(x: number, y: number, at: Vector, normal: Vector): number {
    const { shadows } = this.#world
    const cell = shadows.project(
      at[0] + normal[0] * 0.06,
      at[1] + normal[1] * 0.06,
      at[2] + normal[2] * 0.06,
      shadowCell,
    ) as [number, number, number]
    const nearness = cell[2] + 0.08
    const limit = shadows.size - 4
    if (!(cell[0] > 3 && cell[1] > 3 && cell[0] < limit && cell[1] < limit)) return 1
    let lit = 0
    for (let q = 0; q < SHADOW_SAMPLES; q++) {
      const dy = hash(x * 3 + q, y, 77) * 3.6 - 1.8
      const dx = hash(x, y * 3 + q, 78) * 3.6 - 1.8
      const o = ((cell[1] + dy) | 0) * shadows.size + ((cell[0] + dx) | 0)
      if (shadows.depth[o]! < nearness) lit++
    }
    return lit / SHADOW_SAMPLES
  }

  /** Averages the fine samples of each pixel. */
  #downsample(fine: Uint8Array, coarse: Uint8Array): void {
    const k = SUPERSAMPLING
    const width = this.#width / k
    for (let y = this.#top / k; y < this.#bottom / k; y++) {
      for (let x = 0; x < width; x++) {
        for (let c = 0; c < 3; c++) {
          let sum = 0
          for (let a = 0; a < k; a++) {
            for (let b = 0; b < k; b++) {
              sum += fine[((y * k + a) * this.#width + x * k + b) * 3 + c]!
            }
          }
          coarse[(y * width + x) * 3 + c] = ((sum + (k * k) / 2) / (k * k)) | 0
        }
      }
    }
  }
}

/**
 * Returns the unit normal of a triangle at a point, towards the camera. Leaves have their own
 * normals.
 */
function computeNormal(triangle: Triangle, at: Vector, ray: Vector): Vector {
  const [x, y, z] = triangle.leafNormal ?? surfaceNormal(triangle, at)
  const length = Math.sqrt(x * x + y * y + z * z) || 1
  const isBackFacing = !triangle.leafNormal && x * ray[0] + y * ray[1] + z * ray[2] > 0
  const k = isBackFacing ? -1 / length : 1 / length
  return [x * k, y * k, z * k]
}

function surfaceNormal({ corners: [a, b, c], axis }: Triangle, at: Vector): Vector {
  if (axis) return [at[0] - axis[0], at[1] - axis[1], 0]
  const [ux, uy, uz] = [b[0] - a[0], b[1] - a[1], b[2] - a[2]]
  const [vx, vy, vz] = [c[0] - a[0], c[1] - a[1], c[2] - a[2]]
  return [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx]
}
