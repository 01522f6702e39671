import { cos, sin, TAU } from '../maths/arithmetic.ts'
import type { Point, Vector } from '../maths/vectors.ts'
import type { Rgb } from './colour.ts'

/**
 * The colour of all faces, or a function that returns the colour of a face. The function returns
 * null to omit a face.
 */
export type FaceColour = Rgb | ((ring: number, side: number) => Rgb | null)

/** The surface that connects a sequence of rings. */
interface Loft {
  /** Number of vertices of each ring. */
  sides: number
  colour: FaceColour
  /** Share of light that is mirrored. Default 0. */
  gloss?: number
  /** Makes the rings ellipses (0, the default), rectangles (1), or something in between. */
  squareness?: number
}

interface Ellipsoid {
  centre: Vector
  /** Radii to the right, along the heading and upwards. */
  radii: Vector
  /** Horizontal unit vector. */
  heading: Point
  /** Number of vertices of each ring, and number of rings. */
  sides: number
  rings: number
  colour: FaceColour
  /** Share of light that is mirrored. Default 0. */
  gloss?: number
  /** Limits the surface to a range of latitudes, from 0 at the top to 1 at the bottom. */
  latitudes?: readonly [from: number, to: number]
}

/** An ellipse in space, given by its centre and its semi-axes. */
interface Ring {
  centre: Vector
  axisA: Vector
  axisB: Vector
}

/** Maximum number of vertices. A mesh has about two faces for each vertex. */
const CAPACITY = 1 << 15
/** An ellipsoid has no ring without a radius, whose faces would have no normal. */
const MIN_RING_SIZE = 0.02

/**
 * A triangle mesh with smooth normals. Surfaces are lofted: they connect a sequence of elliptical
 * rings. The buffers are reused after `clear`.
 */
export class Mesh {
  /** Three numbers for each vertex: x, y and z. */
  readonly positions = new Float64Array(CAPACITY * 3)
  readonly normals = new Float64Array(CAPACITY * 3)
  /** The three vertices of each face. */
  readonly indices = new Int32Array(CAPACITY * 6)
  readonly faceColours = new Float32Array(CAPACITY * 6)
  readonly faceGloss = new Float32Array(CAPACITY * 2)
  vertexCount = 0
  faceCount = 0
  /** The rings of the next loft. */
  #rings: Ring[] = []

  clear(): void {
    this.vertexCount = 0
    this.faceCount = 0
    this.#rings = []
  }

  /** Adds an ellipse with these semi-axes to the next loft. */
  addRing(centre: Vector, axisA: Vector, axisB: Vector): void {
    this.#rings.push({ centre, axisA, axisB })
  }

  /** Adds a vertex without a normal. Returns its index. */
  addVertex(x: number, y: number, z: number): number {
    // Index by index: `set` of a small array takes several times as long.
    const offset = this.vertexCount * 3
    this.positions[offset] = x
    this.positions[offset + 1] = y
    this.positions[offset + 2] = z
    this.normals.fill(0, offset, offset + 3)
    return this.vertexCount++
  }

  /** Adds a face with these vertices. */
  addTriangle(a: number, b: number, c: number, colour: Rgb, gloss: number): void {
    const offset = this.faceCount * 3
    this.indices[offset] = a
    this.indices[offset + 1] = b
    this.indices[offset + 2] = c
    this.faceColours[offset] = colour[0]
    this.faceColours[offset + 1] = colour[1]
    this.faceColours[offset + 2] = colour[2]
    this.faceGloss[this.faceCount++] = gloss
  }

  /**
   * Connects the rings that were added since the last loft. Returns the index of the first vertex.
   */
  loft({ sides, colour, gloss = 0, squareness = 0 }: Loft): number {
    const firstVertex = this.vertexCount
    const firstFace = this.faceCount
    const rings = this.#rings
    this.#rings = []

    for (const ring of rings) this.#addRingVertices(ring, sides, squareness)
    for (let ring = 0; ring + 1 < rings.length; ring++) {
      for (let side = 0; side < sides; side++) {
        const faceColour = typeof colour === 'function' ? colour(ring, side) : colour
        if (!faceColour) continue
        const a = firstVertex + ring * sides + side
        const b = firstVertex + ring * sides + ((side + 1) % sides)
        this.addTriangle(a, b, b + sides, faceColour, gloss)
        this.addTriangle(a, b + sides, a + sides, faceColour, gloss)
      }
    }

    const middle = rings.length >> 1
    this.#addFaceNormals(firstFace)
    const isInward = this.#areNormalsInward(
      firstVertex + middle * sides,
      sides,
      rings[middle]!.centre,
    )
    this.#normalize(firstVertex, isInward ? -1 : 1)
    return firstVertex
  }

  addEllipsoid({
    centre,
    radii,
    heading,
    sides,
    rings,
    colour,
    gloss = 0,
    latitudes,
  }: Ellipsoid): void {
    const [x, y, z] = centre
    const [rx, ry, rz] = radii
    const [hx, hy] = heading
    const [from, to] = latitudes ?? [0, 1]
    for (let ring = 0; ring <= rings; ring++) {
      const angle = ((from + ((to - from) * ring) / rings) * TAU) / 2
      const size = Math.max(MIN_RING_SIZE, sin(angle))
      this.addRing(
        [x, y, z + rz * cos(angle)],
        [rx * size * hy, -rx * size * hx, 0],
        [ry * size * hx, ry * size * hy, 0],
      )
    }
    this.loft({ sides, colour, gloss })
  }

  #addRingVertices({ centre, axisA, axisB }: Ring, sides: number, squareness: number): void {
    for (let side = 0; side < sides; side++) {
      const angle = (TAU * (side + 0.5)) / sides
      let a = cos(angle)
      let b = sin(angle)
      if (squareness) {
        const stretch = 1 + (1 / Math.max(Math.abs(a), Math.abs(b)) - 1) * squareness
        a *= stretch
        b *= stretch
      }
      this.addVertex(
        centre[0] + a * axisA[0] + b * axisB[0],
        centre[1] + a * axisA[1] + b * axisB[1],
        centre[2] + a * axisA[2] + b * axisB[2],
      )
    }
  }

  /**
   * Adds the normal of each face to the normals of its vertices. A larger face has a longer normal.
   */
  #addFaceNormals(firstFace: number): void {
    const { positions, normals, indices } = this
    for (let face = firstFace; face < this.faceCount; face++) {
      const a = indices[face * 3]! * 3
      const b = indices[face * 3 + 1]! * 3
      const c = indices[face * 3 + 2]! * 3
      const ux = positions[b]! - positions[a]!
      const uy = positions[b + 1]! - positions[a + 1]!
      const uz = positions[b + 2]! - positions[a + 2]!
      const vx = positions[c]! - positions[a]!
      const vy = positions[c + 1]! - positions[a + 1]!
      const vz = positions[c + 2]! - positions[a + 2]!
      for (const offset of [a, b, c]) {
        normals[offset]! += uy * vz - uz * vy
        normals[offset + 1]! += uz * vx - ux * vz
        normals[offset + 2]! += ux * vy - uy * vx
      }
    }
  }

  /** Returns whether the normals of a ring point towards its centre. */
  #areNormalsInward(firstVertex: number, sides: number, centre: Vector): boolean {
    let outward = 0
    for (let side = 0; side < sides; side++) {
      const offset = (firstVertex + side) * 3
      for (let axis = 0; axis < 3; axis++) {
        outward += this.normals[offset + axis]! * (this.positions[offset + axis]! - centre[axis]!)
      }
    }
    return outward < 0
  }

  /** Gives normals the length 1, and turns them around if `sign` is -1. */
  #normalize(firstVertex: number, sign: 1 | -1): void {
    const { normals } = this
    for (let offset = firstVertex * 3; offset < this.vertexCount * 3; offset += 3) {
      const x = normals[offset]!
      const y = normals[offset + 1]!
      const z = normals[offset + 2]!
      const scale = sign / (Math.sqrt(x * x + y * y + z * z) || 1)
      normals[offset] = x * scale
      normals[offset + 1] = y * scale
      normals[offset + 2] = z * scale
    }
  }
}
