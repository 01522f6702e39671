import { toLinearRgb } from '../graphics/colour.ts'
import type { FacadePlan } from './facade.ts'
import type { Site } from './site.ts'

// biome-ignore format: a palette
const WALL_PAINTS = [
  0xc9b99a, 0xb98a6a, 0xd8d0c0, 0xa85a44, 0x9aa0a4, 0xd2b48a, 0xe0d8c8, 0x8a7464,
].map(toLinearRgb)
const SHOP_PAINTS = [0x1f3f34, 0x7a2020, 0x20304a, 0x3a3a3a, 0x6a4a20, 0x2a5a6a].map(toLinearRgb)
const WALLS = ['plaster', 'brick', 'shutters'] as const
const AWNING_WHITE = toLinearRgb(0xe8e0d0)
const STRIPE_WIDTH_M = 0.5

/** Adds the row of houses behind the far pavement, with shops and awnings. */
export function addHouses(site: Site): void {
  const random = site.random
  let x = -70
  while (x < 90) {
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
    const front = site.layout.facadeY + random.between(0, 0.25)
    site.triangles.addBox(
      [x, front, 0],
      [x + width, site.layout.facadeY + 14, height],
      random.pick(WALL_PAINTS),
      plan,
    )
    addCornice(site, x, x + width, front, plan.groundFloor)
    if (random.chance(0.7)) addAwning(site, x, width, front)
    x += width + (random.chance(0.12) ? random.between(2, 5) : 0)
  }
}

/** Adds a ledge above the ground floor. */
function addCornice(site: Site, x0: number, x1: number, front: number, floor: number): void {
  const edge = front - 0.18
  const [low, middle, high] = [floor + 0.38, floor + 0.55, floor + 0.62]
  const [top, face] = [toLinearRgb(0xb8b0a0), toLinearRgb(0xc8c0b0)]
  site.triangles.addStrip([x0, x1], [edge, middle], [front, high], top)
  site.triangles.addStrip([x0, x1], [edge, low], [edge, middle], face)
}

/** Adds an awning with stripes and a vertical border in front of the shop. */
function addAwning(site: Site, x: number, width: number, front: number): void {
  const edge = site.layout.facadeY - 1.3
  const cloth = site.random.pick(SHOP_PAINTS)
  const stripeCount = Math.floor(width / STRIPE_WIDTH_M) - 2
  for (let i = 0; i < stripeCount; i++) {
    const left = x + 0.6 + i * STRIPE_WIDTH_M
    const right = left + STRIPE_WIDTH_M
    if (right > x + width - 0.5) break
    const colour = i % 2 === 1 ? AWNING_WHITE : cloth
    site.triangles.addStrip([left, right], [front, 3.0], [edge, 2.45], colour)
    site.triangles.addStrip([left, right], [edge, 2.45], [edge, 2.22], colour)
  }
}
