import type { Random } from '../maths/random.ts'
import { addCrossing } from './crossing.ts'
import { addBollards, addFurniture, addLamps } from './furniture.ts'
import { addHouses } from './houses.ts'
import type { Layout } from './layout.ts'
import { type Obstacle, type Site, type Triangle, TriangleList } from './site.ts'
import { addTrees } from './trees.ts'

/** The static world: its triangles, and the obstacles that people walk around. */
export interface Street {
  triangles: readonly Triangle[]
  obstacles: readonly Obstacle[]
}

/** Builds the street. The order of the builders determines the random numbers they draw. */
export function buildStreet(layout: Layout, random: Random): Street {
  const site: Site = { layout, random, triangles: new TriangleList(), obstacles: [] }
  addHouses(site)
  addTrees(site)
  addLamps(site)
  addBollards(site)
  addFurniture(site)
  addCrossing(site)
  return { triangles: site.triangles.triangles, obstacles: site.obstacles }
}
