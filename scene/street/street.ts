import type { Random } from '../maths/random.ts'
import { addCrossing } from './crossing.ts'
import { addBollards, addFurniture, addLamps } from './furniture.ts'
import { addHouses } from './houses.ts'
import type { Layout } from './layout.ts'
import type { Obstacle, Site } from './site.ts'
import { type Triangle, TriangleList } from './site.ts'
import { addTrees } from './trees.ts'

/** The standing world: its triangles, and what is in people's way. */
export interface Street {
  triangles: readonly Triangle[]
  obstacles: readonly Obstacle[]
}

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
