import { paint, type Rgb } from './colour.ts'
import type { FacadePlan } from './facade.ts'
import type { Layout, Point, Vector } from './layout.ts'
import { cos, sin, TAU } from './maths.ts'
import type { Random } from './random.ts'
import { type Triangle, TriangleList } from './triangles.ts'

/** Something that people walk around: centre and radius in metres. */
export type Obstacle = readonly [x: number, y: number, radius: number]

/** The standing world: its triangles, and what is in people's way. */
export interface Street {
  triangles: readonly Triangle[]
  obstacles: readonly Obstacle[]
}

// biome-ignore format: a palette
const WALL_PAINTS = [
  0xc9b99a, 0xb98a6a, 0xd8d0c0, 0xa85a44, 0x9aa0a4, 0xd2b48a, 0xe0d8c8, 0x8a7464,
].map(paint)
const SHOP_PAINTS = [0x1f3f34, 0x7a2020, 0x20304a, 0x3a3a3a, 0x6a4a20, 0x2a5a6a].map(paint)
const WALLS = ['plaster', 'brick', 'shutters'] as const
const AWNING_WHITE = paint(0xe8e0d0)
const LEAVES = [0x4a6a2a, 0x3f6a34, 0x6a7a2e, 0x587a3a].map(paint)
const FLOWERS = [0xc03048, 0xd8a020, 0xb050a0, 0xd86030].map(paint)
const FLOWER_LEAF = paint(0x4a6a2e)
const BARK = paint(0x5a4636)
const SOIL = paint(0x4a4038)
const LAMP_POST = paint(0x2a2e30)
const LAMP_GLASS = paint(0xe8e4d8)
const BOLLARD = paint(0x33373a)
const BOLLARD_BAND = paint(0xd8d4c8)
const WOOD = paint(0x8a5a34)
const IRON = paint(0x222426)
const CONCRETE = paint(0x8c8478)

/** The four-sided posts of the two traffic lights at the crossing. */
export function signalPosts(layout: Layout): readonly [Point, Point] {
  const { crossingX, crossingHalfWidth, roadNear, roadFar } = layout
  return [
    [crossingX - crossingHalfWidth - 0.5, roadNear - 0.5],
    [crossingX + crossingHalfWidth + 0.5, roadFar + 0.4],
  ]
}

export function buildStreet(layout: Layout, random: Random): Street {
  const builder = new StreetBuilder(layout, random)
  builder.build()
  return { triangles: builder.list.triangles, obstacles: builder.obstacles }
}

class StreetBuilder {
  readonly list = new TriangleList()
  readonly obstacles: Obstacle[] = []
  readonly #layout: Layout
  readonly #random: Random

  constructor(layout: Layout, random: Random) {
    this.#layout = layout
    this.#random = random
  }

  build(): void {
    this.#addHouses()
    this.#addTrees()
    this.#addLamps()
    this.#addBollards()
    this.#addFurniture()
    this.#addCrossing()
  }

  #addHouses(): void {
    const random = this.#random
    for (let x = -70; x < 90; ) {
      const width = random.between(9, 16)
      const height = random.between(8, 16)
      const plan: FacadePlan = {
        x0: x,
        width,
        wall: WALLS[random.integer(0, 2)]!,
        salt: random.integer(0, 1e6),
        shop: random.pick(SHOP_PAINTS),
        groundFloor: random.between(3.2, 3.8),
        windowSpacing: random.between(2.2, 3.1),
      }
      const front = this.#layout.facades + random.between(0, 0.25)
      this.list.box(
        [x, front, 0],
        [x + width, this.#layout.facades + 14, height],
        random.pick(WALL_PAINTS),
        plan,
      )
      this.#addCornice(x, x + width, front, plan.groundFloor)
      if (random.chance(0.7)) this.#addAwning(x, width, front)
      x += width + (random.chance(0.12) ? random.between(2, 5) : 0)
    }
  }

  #addCornice(x0: number, x1: number, front: number, floor: number): void {
    const edge = front - 0.18
    const [low, middle, high] = [floor + 0.38, floor + 0.55, floor + 0.62]
    const [top, face] = [paint(0xb8b0a0), paint(0xc8c0b0)]
    this.list.quad([x0, edge, middle], [x1, edge, middle], [x1, front, high], [x0, front, high], top)
    this.list.quad([x0, edge, low], [x1, edge, low], [x1, edge, middle], [x0, edge, middle], face)
  }

  #addAwning(x: number, width: number, front: number): void {
    const edge = this.#layout.facades - 1.3
    const cloth = this.#random.pick(SHOP_PAINTS)
    const stripes = Math.floor(width / 0.5) - 2
    for (let i = 0; i < stripes; i++) {
      const a = x + 0.6 + i * 0.5
      const b = a + 0.5
      if (b > x + width - 0.5) break
      const colour = i & 1 ? AWNING_WHITE : cloth
      this.list.quad([a, front, 3.0], [b, front, 3.0], [b, edge, 2.45], [a, edge, 2.45], colour)
      this.list.quad([a, edge, 2.45], [b, edge, 2.45], [b, edge, 2.22], [a, edge, 2.22], colour)
    }
  }

  #addTrees(): void {
    const { roadNear, roadFar, bay, crossingX, crossingHalfWidth, variation } = this.#layout
    const random = this.#random
    for (let x = -22 + random.between(0, 4); x < 45; x += random.between(7, 11))
      if (Math.abs(x - crossingX) > crossingHalfWidth + 1.6)
        this.#addTree([x, roadFar + bay + 0.8], random.between(4.6, 6.2))
    const places: Point[] =
      variation < 1
        ? [[-9.2, 7.6]]
        : Array.from({ length: random.integer(0, 2) }, () => [
            random.between(-9, 14),
            random.between(3, roadNear - 2),
          ])
    for (const [x, y] of places) {
      if (Math.abs(x - crossingX) < 3.5) continue
      this.#addTree([x, y], random.between(4.0, 5))
      this.obstacles.push([x, y, 0.9])
    }
  }

  #addTree([x, y]: Point, height: number): void {
    const random = this.#random
    this.list.post([x, y], 0, height * 0.55, 0.17, 0.1, BARK)
    const green = random.pick(LEAVES)
    const clumps = Array.from({ length: 7 }, () => [
      x + random.between(-0.9, 0.9),
      y + random.between(-0.9, 0.9),
      height * random.between(0.55, 0.92),
      random.between(0.7, 1.15),
    ]) as [number, number, number, number][]
    for (let i = 0; i < 5200; i++) {
      const [cx, cy, cz, radius] = clumps[i % 7]!
      const angle = random.between(0, TAU)
      const z = random.between(-1, 1)
      const s = Math.sqrt(1 - z * z)
      const r = radius * Math.sqrt(random.between(0.35, 1))
      const size = random.between(0.04, 0.095)
      const shade = random.between(0.6, 1.25)
      const colour: Rgb = [green[0] * shade * random.between(0.8, 1.3), green[1] * shade, green[2] * shade]
      this.list.leaf(
        [cx + r * s * cos(angle), cy + r * s * sin(angle), cz + r * z * 0.85],
        () => random.between(-size, size),
        colour,
        () => [
          s * cos(angle) * 0.7 + random.between(-0.3, 0.3),
          s * sin(angle) * 0.7 + random.between(-0.3, 0.3),
          z * 0.7 + 0.45,
        ],
      )
    }
    this.list.box([x - 0.6, y - 0.6, 0], [x + 0.6, y + 0.6, 0.03], SOIL)
  }

  #addLamps(): void {
    const { roadNear, roadFar, bay, crossingX } = this.#layout
    for (const x of [-13, -1.2, 10.5, 22]) {
      this.#addLamp([x + crossingX - 3.5, roadNear - 0.8])
      if (this.#random.chance(0.7)) this.#addLamp([x + 5, roadFar + bay + 0.6])
    }
  }

  #addLamp(at: Point): void {
    this.list.post(at, 0, 0.5, 0.11, 0.09, LAMP_POST)
    this.list.post(at, 0.5, 5.2, 0.065, 0.045, LAMP_POST)
    this.list.post(at, 5.2, 5.65, 0.12, 0.2, LAMP_GLASS)
    this.list.post(at, 5.65, 5.75, 0.24, 0.03, LAMP_POST)
    this.obstacles.push([...at, 0.35])
  }

  #addBollards(): void {
    const { roadNear, crossingX, crossingHalfWidth } = this.#layout
    for (let x = crossingX - 14; x < crossingX + 16; x += 1.7) {
      if (Math.abs(x - crossingX) <= crossingHalfWidth + 0.5 || !this.#random.chance(0.93)) continue
      const at: Point = [x, roadNear - 0.35]
      this.list.post(at, 0, 0.82, 0.06, 0.055, BOLLARD, 8)
      this.list.post(at, 0.82, 0.9, 0.07, 0.02, BOLLARD, 8)
      this.list.post(at, 0.66, 0.74, 0.064, 0.064, BOLLARD_BAND, 8)
    }
  }

  #addFurniture(): void {
    const random = this.#random
    if (this.#layout.variation < 1) {
      this.#addBench(-5.2, 9.0)
      this.#addBench(8.8, 7.4)
      this.#addPlanter(11.6, 8.2)
      this.#addPlanter(-2.2, 9.3)
      return
    }
    const far = this.#layout.roadNear - 2
    for (let i = random.integer(0, 2); i > 0; i--)
      this.#addBench(random.between(-10, 14), random.between(3, far))
    for (let i = random.integer(0, 2); i > 0; i--)
      this.#addPlanter(random.between(-10, 14), random.between(3, far))
  }

  #addBench(x: number, y: number): void {
    for (let i = 0; i < 4; i++)
      this.list.box([x - 0.9, y - 0.22 + i * 0.12, 0.43], [x + 0.9, y - 0.13 + i * 0.12, 0.46], WOOD)
    for (let i = 0; i < 3; i++)
      this.list.box([x - 0.9, y + 0.26, 0.56 + i * 0.13], [x + 0.9, y + 0.29, 0.66 + i * 0.13], WOOD)
    for (const s of [-0.75, 0.75]) {
      this.list.box([x + s - 0.03, y - 0.2, 0], [x + s + 0.03, y + 0.3, 0.43], IRON)
      this.list.box([x + s - 0.02, y + 0.29, 0.4], [x + s + 0.02, y + 0.32, 0.95], IRON)
    }
    this.obstacles.push([x, y, 1.2])
  }

  #addPlanter(x: number, y: number): void {
    const random = this.#random
    this.list.box([x - 0.8, y - 0.4, 0], [x + 0.8, y + 0.4, 0.55], CONCRETE)
    const flower = random.pick(FLOWERS)
    for (let i = 0; i < 420; i++) {
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
      this.list.leaf(
        centre,
        () => random.between(-0.07, 0.07),
        colour,
        () => [random.between(-0.5, 0.5), random.between(-0.5, 0.5), 0.8],
      )
    }
    this.obstacles.push([x, y, 1.0])
  }

  /** The bin, the traffic lights' posts and the signs at the crossing. */
  #addCrossing(): void {
    const { crossingX, crossingHalfWidth, roadNear, roadFar, bay } = this.#layout
    const bin: Point = [crossingX + crossingHalfWidth + 2.4, roadNear - 1.2]
    this.list.post(bin, 0, 0.9, 0.24, 0.27, paint(0x2f5a40))
    this.obstacles.push([...bin, 0.5])
    for (const [x, y] of signalPosts(this.#layout)) {
      this.list.post([x, y], 0, 2.9, 0.055, 0.05, paint(0x3a3e40))
      this.list.box([x - 0.14, y - 0.12, 2.2], [x + 0.14, y + 0.12, 2.95], paint(0x15171a))
      this.obstacles.push([x, y, 0.3])
    }
    for (const side of [-1, 1]) {
      const x = crossingX + side * (crossingHalfWidth + 3.2)
      const y = roadFar + bay + 0.4
      const [left, right, front] = [x - 0.3, x + 0.3, y - 0.04]
      const colour = paint(side > 0 ? 0x2050a0 : 0xc02020)
      this.list.post([x, y], 0, 2.6, 0.035, 0.035, paint(0x8a8e90), 8)
      this.list.quad([left, front, 2.0], [right, front, 2.0], [right, front, 2.6], [left, front, 2.6], colour)
    }
  }
}
