import type { Rgb } from '../graphics/colour.ts'
import { cos, sin, TAU } from '../maths/arithmetic.ts'
import type { Random } from '../maths/random.ts'
import type { Point, Vector } from '../maths/vectors.ts'
import type { FacadePlan } from './facade.ts'
import type { Layout } from './layout.ts'

/** An obstacle that people walk around: centre and radius in metres. */
export type Obstacle = readonly [x: number, y: number, radius: number]

/** The street under construction. Every builder adds to it. */
export interface Site {
  layout: Layout
  random: Random
  triangles: TriangleList
  obstacles: Obstacle[]
}

/** A triangle of the static world. */
export interface Triangle {
  corners: readonly [Vector, Vector, Vector]
  colour: Rgb
  /** Facades get windows and shops from a procedural texture when they are shaded. */
  facade?: FacadePlan
  /** Normal of a leaf, which depends on its position in the crown. Leaves are translucent. */
  leafNormal?: Vector
  /** Axis of a round surface. Its normals point away from the axis. */
  axis?: Point
}

type SurfaceOptions = Omit<Triangle, 'corners' | 'colour'>

/** A list of triangles, to which quads, boxes, posts and leaves can be added. */
export class TriangleList {
  readonly triangles: Triangle[] = []

  addQuad(
    a: Vector,
    b: Vector,
    c: Vector,
    d: Vector,
    colour: Rgb,
    options: SurfaceOptions = {},
  ): void {
    this.triangles.push(
      { corners: [a, b, c], colour, ...options },
      { corners: [a, c, d], colour, ...options },
    )
  }

  /**
   * Adds a strip along the street, from the first x to the second, between two lines that are
   * given by their y and z.
   */
  addStrip(
    [x0, x1]: readonly [number, number],
    [y0, z0]: readonly [y: number, z: number],
    [y1, z1]: readonly [y: number, z: number],
    colour: Rgb,
  ): void {
    this.addQuad([x0, y0, z0], [x1, y0, z0], [x1, y1, z1], [x0, y1, z1], colour)
  }

  /** Adds an upright box without a bottom, given by two opposite corners. */
  addBox([x0, y0, z0]: Vector, [x1, y1, z1]: Vector, colour: Rgb, facade?: FacadePlan): void {
    const corners: Point[] = [
      [x0, y0],
      [x1, y0],
      [x1, y1],
      [x0, y1],
    ]
    const walls = facade ? { facade } : {}
    for (const [i, [ax, ay]] of corners.entries()) {
      const [bx, by] = corners[(i + 1) % corners.length]!
      this.addQuad([ax, ay, z0], [bx, by, z0], [bx, by, z1], [ax, ay, z1], colour, walls)
    }
    this.addQuad([x0, y0, z1], [x1, y0, z1], [x1, y1, z1], [x0, y1, z1], colour)
  }

  /** Adds an upright post from height z0 to z1, tapered from radius r0 to r1. */
  addPost(
    [x, y]: Point,
    z0: number,
    z1: number,
    r0: number,
    r1: number,
    colour: Rgb,
    sides = 10,
  ): void {
    for (let s = 0; s < sides; s++) {
      const a = (TAU * s) / sides
      const b = (TAU * (s + 1)) / sides
      this.addQuad(
        [x + r0 * cos(a), y + r0 * sin(a), z0],
        [x + r0 * cos(b), y + r0 * sin(b), z0],
        [x + r1 * cos(b), y + r1 * sin(b), z1],
        [x + r1 * cos(a), y + r1 * sin(a), z1],
        colour,
        { axis: [x, y] },
      )
    }
  }

  /**
   * Adds a leaf or petal: a triangle around a centre whose corners are offset by random distances.
   */
  addLeaf([x, y, z]: Vector, offset: () => number, colour: Rgb, leafNormal: () => Vector): void {
    const corner = (): Vector => [x + offset(), y + offset(), z + offset()]
    this.triangles.push({
      corners: [corner(), corner(), corner()],
      colour,
      leafNormal: leafNormal(),
    })
  }
}
