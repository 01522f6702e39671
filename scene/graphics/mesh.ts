import { cos, sin, TAU } from '../maths/arithmetic.ts'
import type { Rgb } from './colour.ts'

/** The colour of all faces, or a function that returns the colour of a face. The function returns null to omit a face. */
export type FaceColour = Rgb | ((ring: number, side: number) => Rgb | null)

const CAPACITY = 1 << 15

/**
 * A triangle mesh with smooth normals. Surfaces are lofted: they connect a sequence of elliptical rings. The buffers are
 * reused after `clear`.
 */
export class Mesh {
  readonly positions = new Float64Array(CAPACITY * 3)
  readonly normals = new Float64Array(CAPACITY * 3)
  readonly indices = new Int32Array(CAPACITY * 6)
  readonly faceColours = new Float32Array(CAPACITY * 6)
  readonly faceGloss = new Float32Array(CAPACITY * 2)
  vertexCount = 0
  faceCount = 0
  readonly #rings = new Float64Array(9 * 128)
  #ringCount = 0

  clear(): void {
    this.vertexCount = 0
    this.faceCount = 0
    this.#ringCount = 0
  }

  /** Adds an elliptical ring to the next loft, with centre c and semi-axes u and v. */
  // biome-ignore format: one vector per line
  addRing(
    cx: number, cy: number, cz: number,
    ux: number, uy: number, uz: number,
    vx: number, vy: number, vz: number,
  ): void {
    this.#rings.set([cx, cy, cz, ux, uy, uz, vx, vy, vz], this.#ringCount++ * 9)
  }

  addVertex(x: number, y: number, z: number): number {
    const o = this.vertexCount * 3
    this.positions[o] = x
    this.positions[o + 1] = y
    this.positions[o + 2] = z
    this.normals.fill(0, o, o + 3)
    return this.vertexCount++
  }

  addTriangle(a: number, b: number, c: number, colour: Rgb, gloss: number): void {
    const o = this.faceCount * 3
    this.indices[o] = a
    this.indices[o + 1] = b
    this.indices[o + 2] = c
    this.faceColours[o] = colour[0]
    this.faceColours[o + 1] = colour[1]
    this.faceColours[o + 2] = colour[2]
    this.faceGloss[this.faceCount++] = gloss
  }

  /**
   * Connects the rings that were added since the last loft. Returns the index of the first vertex. A `squareness` of 0
   * makes the rings ellipses, 1 makes them rectangles.
   */
  loft(sides: number, colour: FaceColour, gloss = 0, squareness = 0): number {
    const rings = this.#rings
    const count = this.#ringCount
    const firstVertex = this.vertexCount
    const firstFace = this.faceCount
    for (let r = 0; r < count; r++) {
      const o = r * 9
      for (let s = 0; s < sides; s++) {
        const angle = (TAU * (s + 0.5)) / sides
        let c = cos(angle)
        let d = sin(angle)
        if (squareness) {
          const k = 1 + (1 / Math.max(Math.abs(c), Math.abs(d)) - 1) * squareness
          c *= k
          d *= k
        }
        this.addVertex(
          rings[o]! + c * rings[o + 3]! + d * rings[o + 6]!,
          rings[o + 1]! + c * rings[o + 4]! + d * rings[o + 7]!,
          rings[o + 2]! + c * rings[o + 5]! + d * rings[o + 8]!,
        )
      }
    }
    for (let r = 0; r + 1 < count; r++) {
      for (let s = 0; s < sides; s++) {
        const faceColour = typeof colour === 'function' ? colour(r, s) : colour
        if (!faceColour) continue
        const a = firstVertex + r * sides + s
        const b = firstVertex + r * sides + ((s + 1) % sides)
        this.addTriangle(a, b, b + sides, faceColour, gloss)
        this.addTriangle(a, b + sides, a + sides, faceColour, gloss)
      }
    }
    this.#computeNormals(firstVertex, firstFace, count >> 1, sides)
    this.#ringCount = 0
    return firstVertex
  }

  /**
   * Adds an ellipsoid whose ry axis points along (hx, hy). `from` and `to` limit it to a range of latitudes, from 0 at
   * the top to 1 at the bottom.
   */
  // biome-ignore format: centre, radii, heading
  addEllipsoid(
    cx: number, cy: number, cz: number,
    rx: number, ry: number, rz: number,
    hx: number, hy: number,
    sides: number, rings: number, colour: FaceColour, gloss = 0, from = 0, to = 1,
  ): void {
    for (let i = 0; i <= rings; i++) {
      const angle = ((from + ((to - from) * i) / rings) * TAU) / 2
      const s = Math.max(0.02, sin(angle))
      this.addRing(cx, cy, cz + rz * cos(angle), rx * s * hy, -rx * s * hx, 0, ry * s * hx, ry * s * hy, 0)
    }
    this.loft(sides, colour, gloss)
  }

  /** Computes the normal of each vertex: the sum of the adjacent face normals, pointing away from the middle ring's centre. */
  #computeNormals(firstVertex: number, firstFace: number, middle: number, sides: number): void {
    const { positions: P, normals: N, indices: F } = this
    for (let f = firstFace; f < this.faceCount; f++) {
      const a = F[f * 3]! * 3
      const b = F[f * 3 + 1]! * 3
      const c = F[f * 3 + 2]! * 3
      const ux = P[b]! - P[a]!
      const uy = P[b + 1]! - P[a + 1]!
      const uz = P[b + 2]! - P[a + 2]!
      const vx = P[c]! - P[a]!
      const vy = P[c + 1]! - P[a + 1]!
      const vz = P[c + 2]! - P[a + 2]!
      for (const o of [a, b, c]) {
        N[o] = N[o]! + (uy * vz - uz * vy)
        N[o + 1] = N[o + 1]! + (uz * vx - ux * vz)
        N[o + 2] = N[o + 2]! + (ux * vy - uy * vx)
      }
    }
    let outward = 0
    const centre = middle * 9
    for (let s = 0; s < sides; s++) {
      const o = (firstVertex + middle * sides + s) * 3
      for (let axis = 0; axis < 3; axis++)
        outward += N[o + axis]! * (P[o + axis]! - this.#rings[centre + axis]!)
    }
    const sign = outward < 0 ? -1 : 1
    for (let o = firstVertex * 3; o < this.vertexCount * 3; o += 3) {
      const nx = N[o]!
      const ny = N[o + 1]!
      const nz = N[o + 2]!
      const k = sign / (Math.sqrt(nx * nx + ny * ny + nz * nz) || 1)
      N[o] = nx * k
      N[o + 1] = ny * k
      N[o + 2] = nz * k
    }
  }
}
