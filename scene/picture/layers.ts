import { toneMap } from '../graphics/colour.ts'
import type { Mesh } from '../graphics/mesh.ts'
import { fillTriangle } from '../graphics/rasteriser.ts'
import { clamp, smoothstep } from '../maths/arithmetic.ts'
import { type Backdrop, SUPERSAMPLING, type World } from './backdrop.ts'
import type { Camera } from './camera.ts'
import { CLEAN, COVERED, DirtyTiles, SHADOWED } from './dirty-tiles.ts'
import type { Bounds, ProjectedMesh } from './projected-mesh.ts'

/**
 * The moving objects of a frame, drawn with a depth test against the backdrop, and their shadows.
 */
export class Layers {
  /** For each fine sample: the id of the visible object (0: none), and its colour. */
  readonly owner: Uint8Array
  readonly colour: Uint8Array
  /**
   * For each pixel: 1 in a cast shadow, and the darkening of the ground by nearby objects (0..255).
   */
  readonly shadow: Uint8Array
  readonly occlusion: Uint8Array
  readonly tiles: DirtyTiles
  readonly #world: World
  readonly #backdrop: Backdrop
  readonly #depth: Float32Array
  /**
   * The last drawing that touched each sample, so that each sample of a mesh is counted once,
   * even if it is occluded.
   */
  readonly #touched: Int32Array
  #drawing = 0

  constructor(world: World, backdrop: Backdrop) {
    const { width, height } = world.camera
    const samples = width * height * SUPERSAMPLING * SUPERSAMPLING
    this.owner = new Uint8Array(samples)
    this.colour = new Uint8Array(samples * 3)
    this.shadow = new Uint8Array(width * height)
    this.occlusion = new Uint8Array(width * height)
    this.tiles = new DirtyTiles(width, height)
    this.#world = world
    this.#backdrop = backdrop
    this.#depth = new Float32Array(backdrop.depth)
    this.#touched = new Int32Array(samples)
  }

  /** Erases the previous frame. */
  clear(): void {
    const { width } = this.#world.camera
    const fineWidth = width * SUPERSAMPLING
    for (const { left, right, top, bottom, state } of this.tiles.spans()) {
      if (state === CLEAN) continue
      for (let y = top; y < bottom; y++) {
        this.shadow.fill(0, y * width + left, y * width + right)
        this.occlusion.fill(0, y * width + left, y * width + right)
      }
      for (let y = top * SUPERSAMPLING; y < bottom * SUPERSAMPLING; y++) {
        const from = y * fineWidth + left * SUPERSAMPLING
        const to = y * fineWidth + right * SUPERSAMPLING
        this.owner.fill(0, from, to)
        this.#depth.set(this.#backdrop.depth.subarray(from, to), from)
      }
    }
    this.tiles.clear()
  }

  drawShadow(mesh: Mesh, projected: ProjectedMesh): void {
    const { width, height } = this.#world.camera
    const { left, top, right, bottom } = projected.shadowBounds
    this.tiles.mark(left - 5, top - 5, right + 5, bottom + 5, SHADOWED)
    if (this.#world.layout.light.overcast >= 0.9) return
    const { shadowX: x, shadowY: y, facingSun } = projected
    for (let f = 0; f < mesh.faceCount; f++) {
      const a = mesh.indices[f * 3]!
      const b = mesh.indices[f * 3 + 1]!
      const c = mesh.indices[f * 3 + 2]!
      if (facingSun[a]! < 0 && facingSun[b]! < 0 && facingSun[c]! < 0) continue
      fillTriangle(this.shadow, width, height, [x[a]!, y[a]!], [x[b]!, y[b]!], [x[c]!, y[c]!])
    }
  }

  /** Darkens the ground below and around an object. */
  drawAmbientOcclusion(footprint: Footprint): void {
    const { camera } = this.#world
    const { width, height, eye, forward, right, up, focal } = camera
    const bounds = projectFootprint(camera, footprint)
    const x0 = Math.max(0, Math.floor(bounds.left))
    const x1 = Math.min(width - 1, Math.ceil(bounds.right))
    const y0 = Math.max(0, Math.floor(bounds.top))
    const y1 = Math.min(height - 1, Math.ceil(bounds.bottom))
    this.tiles.mark(x0, y0, x1, y1, SHADOWED)
    for (let y = y0; y <= y1; y++) {
      const b = (height / 2 - y - 0.5) / focal
      const descent = forward[2] + up[2] * b
      if (descent > -0.01) continue
      const distance = -eye[2] / descent
      for (let x = x0; x <= x1; x++) {
        const a = (x + 0.5 - width / 2) / focal
        const dx = eye[0] + distance * (forward[0] + right[0] * a + up[0] * b) - footprint.x
        const dy = eye[1] + distance * (forward[1] + right[1] * a + up[1] * b) - footprint.y
        const darkness = computeGroundDarkness(footprint, dx, dy)
        const o = y * width + x
        if (darkness > this.occlusion[o]!) this.occlusion[o] = darkness
      }
    }
  }

  /**
   * Draws the surface of a mesh. Returns the number of samples that it would cover without
   * occlusion. Back faces of closed meshes are skipped.
   */
  drawSurface(mesh: Mesh, projected: ProjectedMesh, owner: number, isClosed: boolean): number {
    const { bounds } = projected
    this.tiles.mark(bounds.left - 1, bounds.top - 1, bounds.right + 1, bounds.bottom + 1, COVERED)
    this.#drawing++
    let covered = 0
    for (let f = 0; f < mesh.faceCount; f++) {
      const a = mesh.indices[f * 3]!
      const b = mesh.indices[f * 3 + 1]!
      const c = mesh.indices[f * 3 + 2]!
      if (projected.depth[a]! < 0 || projected.depth[b]! < 0 || projected.depth[c]! < 0) continue
      const { facingCamera: facing } = projected
      if (isClosed && facing[a]! < -0.1 && facing[b]! < -0.1 && facing[c]! < -0.1) continue
      covered += this.#drawFace(mesh, projected, f, a, b, c, owner)
    }
    return covered
  }

  #drawFace(
    mesh: Mesh,
    projected: ProjectedMesh,
    f: number,
    a: number,
    b: number,
    c: number,
    owner: number,
  ): number {
    const { width, height } = this.#world.camera
    const fineWidth = width * SUPERSAMPLING
    const ax = projected.x[a]!
    const ay = projected.y[a]!
    const bx = projected.x[b]!
    const by = projected.y[b]!
    const cx = projected.x[c]!
    const cy = projected.y[c]!
    const x0 = clamp(Math.ceil(Math.min(ax, bx, cx) - 0.5), 0, fineWidth)
    const x1 = clamp(Math.floor(Math.max(ax, bx, cx) - 0.5), -1, fineWidth - 1)
    const y0 = clamp(Math.ceil(Math.min(ay, by, cy) - 0.5), 0, height * SUPERSAMPLING)
    const y1 = clamp(Math.floor(Math.max(ay, by, cy) - 0.5), -1, height * SUPERSAMPLING - 1)
    const area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if (x0 > x1 || y0 > y1 || area === 0) return 0
    const { skylight, groundlight, sunlight } = this.#world.layout.light
    const { depth: z, sky, sun, mirrored } = projected
    const r = mesh.faceColours[f * 3]!
    const g = mesh.faceColours[f * 3 + 1]!
    const blue = mesh.faceColours[f * 3 + 2]!
    const gloss = mesh.faceGloss[f]!
    const k = 1 / area
    const du = -(cy - by) * k
    const dv = -(ay - cy) * k
    const px = x0 + 0.5
    let covered = 0
    for (let y = y0; y <= y1; y++) {
      const py = y + 0.5
      let u = ((bx - px) * (cy - py) - (by - py) * (cx - px)) * k
      let v = ((cx - px) * (ay - py) - (cy - py) * (ax - px)) * k
      for (let x = x0, o = y * fineWidth + x0; x <= x1; x++, o++, u += du, v += dv) {
        const t = 1 - u - v
        if (u < -1e-9 || v < -1e-9 || t < -1e-9) continue
        if (this.#touched[o] !== this.#drawing) {
          this.#touched[o] = this.#drawing
          covered++
        }
        const depth = u * z[a]! + v * z[b]! + t * z[c]!
        if (depth <= this.#depth[o]!) continue
        this.#depth[o] = depth
        this.owner[o] = owner
        const up = u * sky[a]! + v * sky[b]! + t * sky[c]!
        const lit = u * sun[a]! + v * sun[b]! + t * sun[c]!
        const shine = gloss * (u * mirrored[a]! + v * mirrored[b]! + t * mirrored[c]!)
        const down = 1 - up
        const i = o * 3
        this.colour[i] = toneMap(
          r * (groundlight[0] * down + skylight[0] * up + sunlight[0] * lit) +
            shine * skylight[0] * 1.3,
        )
        this.colour[i + 1] = toneMap(
          g * (groundlight[1] * down + skylight[1] * up + sunlight[1] * lit) +
            shine * skylight[1] * 1.3,
        )
        this.colour[i + 2] = toneMap(
          blue * (groundlight[2] * down + skylight[2] * up + sunlight[2] * lit) +
            shine * skylight[2] * 1.3,
        )
      }
    }
    return covered
  }
}

/**
 * The ground that an object darkens: centre and size in metres, heading (hx, hy) as a unit vector.
 */
export interface Footprint {
  x: number
  y: number
  hx: number
  hy: number
  /** Half length and half width of a car; the footprint of a person is round. */
  halfSize?: readonly [length: number, width: number]
}

/** Returns how much an object darkens the ground at an offset from its centre, from 0 to 255. */
function computeGroundDarkness({ hx, hy, halfSize }: Footprint, dx: number, dy: number): number {
  if (!halfSize) {
    const distance = Math.sqrt(dx * dx + dy * dy)
    return distance > 0.48 ? 0 : 88 * (1 - smoothstep(0.05, 0.48, distance))
  }
  const outside = Math.max(
    Math.abs(dx * hx + dy * hy) - halfSize[0],
    Math.abs(dx * hy - dy * hx) - halfSize[1],
  )
  return 150 * (1 - smoothstep(-0.25, 0.45, outside))
}

/** Returns the bounds of the footprint in pixels. */
function projectFootprint(
  camera: Camera,
  { x, y, hx, hy, halfSize = [0.03, 0.03] }: Footprint,
): Bounds {
  const point = [0, 0, 0]
  const bounds = { left: 1e9, top: 1e9, right: -1e9, bottom: -1e9 }
  const length = halfSize[0] + 0.46
  const width = halfSize[1] + 0.46
  for (const a of [-length, length]) {
    for (const b of [-width, width]) {
      camera.project(x + hx * a + hy * b, y + hy * a - hx * b, 0, point)
      if (point[2]! < 0) continue
      bounds.left = Math.min(bounds.left, point[0]!)
      bounds.right = Math.max(bounds.right, point[0]!)
      bounds.top = Math.min(bounds.top, point[1]!)
      bounds.bottom = Math.max(bounds.bottom, point[1]!)
    }
  }
  return bounds
}
