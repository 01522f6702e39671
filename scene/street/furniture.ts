import { type Rgb, toLinearRgb } from '../graphics/colour.ts'
import type { Point, Vector } from '../maths/vectors.ts'
import type { Site } from './site.ts'

const FLOWERS = [0xc03048, 0xd8a020, 0xb050a0, 0xd86030].map(toLinearRgb)
const FLOWER_LEAF = toLinearRgb(0x4a6a2e)
const LAMP_POST = toLinearRgb(0x2a2e30)
const LAMP_GLASS = toLinearRgb(0xe8e4d8)
const BOLLARD = toLinearRgb(0x33373a)
const BOLLARD_BAND = toLinearRgb(0xd8d4c8)
const WOOD = toLinearRgb(0x8a5a34)
const IRON = toLinearRgb(0x222426)
const CONCRETE = toLinearRgb(0x8c8478)

const LEAVES_PER_PLANTER = 420

/** Adds street lamps along both pavements. */
export function addLamps(site: Site): void {
  const { roadNear, roadFar, bayDepth, crossingX } = site.layout
  for (const x of [-13, -1.2, 10.5, 22]) {
    addLamp(site, [x + crossingX - 3.5, roadNear - 0.8])
    if (site.random.chance(0.7)) addLamp(site, [x + 5, roadFar + bayDepth + 0.6])
  }
}

function addLamp(site: Site, at: Point): void {
  site.triangles.addPost(at, 0, 0.5, 0.11, 0.09, LAMP_POST)
  site.triangles.addPost(at, 0.5, 5.2, 0.065, 0.045, LAMP_POST)
  site.triangles.addPost(at, 5.2, 5.65, 0.12, 0.2, LAMP_GLASS)
  site.triangles.addPost(at, 5.65, 5.75, 0.24, 0.03, LAMP_POST)
  site.obstacles.push([...at, 0.35])
}

/** Adds bollards along the kerb. */
export function addBollards(site: Site): void {
  const { roadNear, crossingX, crossingHalfWidth } = site.layout
  for (let x = crossingX - 14; x < crossingX + 16; x += 1.7) {
    if (Math.abs(x - crossingX) <= crossingHalfWidth + 0.5 || !site.random.chance(0.93)) continue
    const at: Point = [x, roadNear - 0.35]
    site.triangles.addPost(at, 0, 0.82, 0.06, 0.055, BOLLARD, 8)
    site.triangles.addPost(at, 0.82, 0.9, 0.07, 0.02, BOLLARD, 8)
    site.triangles.addPost(at, 0.66, 0.74, 0.064, 0.064, BOLLARD_BAND, 8)
  }
}

/** Adds benches and planters, at fixed positions unless the layout is fully random. */
export function addFurniture(site: Site): void {
  const random = site.random
  if (site.layout.variation < 1) {
    addBench(site, -5.2, 9.0)
    addBench(site, 8.8, 7.4)
    addPlanter(site, 11.6, 8.2)
    addPlanter(site, -2.2, 9.3)
    return
  }
  const far = site.layout.roadNear - 2
  const benchCount = random.integer(0, 2)
  for (let i = 0; i < benchCount; i++) {
    addBench(site, random.between(-10, 14), random.between(3, far))
  }
  const planterCount = random.integer(0, 2)
  for (let i = 0; i < planterCount; i++) {
    addPlanter(site, random.between(-10, 14), random.between(3, far))
  }
}

function addBench(site: Site, x: number, y: number): void {
  const seatPlanks = 4
  for (let i = 0; i < seatPlanks; i++) {
    const front = y - 0.22 + i * 0.12
    const back = y - 0.13 + i * 0.12
    site.triangles.addBox([x - 0.9, front, 0.43], [x + 0.9, back, 0.46], WOOD)
  }
  const backPlanks = 3
  for (let i = 0; i < backPlanks; i++) {
    const bottom = 0.56 + i * 0.13
    const top = 0.66 + i * 0.13
    site.triangles.addBox([x - 0.9, y + 0.26, bottom], [x + 0.9, y + 0.29, top], WOOD)
  }
  for (const legOffset of [-0.75, 0.75]) {
    const legX = x + legOffset
    site.triangles.addBox([legX - 0.03, y - 0.2, 0], [legX + 0.03, y + 0.3, 0.43], IRON)
    site.triangles.addBox([legX - 0.02, y + 0.29, 0.4], [legX + 0.02, y + 0.32, 0.95], IRON)
  }
  site.obstacles.push([x, y, 1.2])
}

function addPlanter(site: Site, x: number, y: number): void {
  const random = site.random
  site.triangles.addBox([x - 0.8, y - 0.4, 0], [x + 0.8, y + 0.4, 0.55], CONCRETE)
  const flower = random.pick(FLOWERS)
  for (let i = 0; i < LEAVES_PER_PLANTER; i++) {
    const colour: Rgb = random.chance(0.3)
      ? flower
      : [
          FLOWER_LEAF[0] * random.between(0.6, 1.3),
          FLOWER_LEAF[1] * random.between(0.6, 1.3),
          FLOWER_LEAF[2] * random.between(0.6, 1.3),
        ]
    const centre: Vector = [
      x + random.between(-0.75, 0.75),
      y + random.between(-0.35, 0.35),
      0.52 + random.between(0, 0.4),
    ]
    site.triangles.addLeaf(
      centre,
      () => random.between(-0.07, 0.07),
      colour,
      () => [random.between(-0.5, 0.5), random.between(-0.5, 0.5), 0.8],
    )
  }
  site.obstacles.push([x, y, 1.0])
}
