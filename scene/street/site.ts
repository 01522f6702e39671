import type { Random } from '../maths/random.ts'
import type { Layout } from './layout.ts'
import type { TriangleList } from './triangles.ts'

/** Something that people walk around: centre and radius in metres. */
export type Obstacle = readonly [x: number, y: number, radius: number]

/** A street while it is being built. */
export interface Site {
  layout: Layout
  random: Random
  list: TriangleList
  obstacles: Obstacle[]
}
