import { type Rgb, toLinearRgb } from '../graphics/colour.ts'
import { cos, sin, TAU } from '../maths/arithmetic.ts'
import type { Point } from '../maths/vectors.ts'
import type { Site } from './site.ts'

const LEAVES = [0x4a6a2a, 0x3f6a34, 0x6a7a2e, 0x587a3a].map(toLinearRgb)
const BARK = toLinearRgb(0x5a4636)
const SOIL = toLinearRgb(0x4a4038)

const CLUMPS_PER_TREE = 7
const LEAVES_PER_TREE = 5200

/** Adds trees along the far pavement and a few on the near one. */
export function addTrees(site: Site): void {
  const { roadNear, roadFar, bayDepth, crossingX, crossingHalfWidth, variation } = site.layout
  const random = site.random
  for (let x = -22 + random.between(0, 4); x < 45; x += random.between(7, 11)) {
    const isAtCrossing = Math.abs(x - crossingX) <= crossingHalfWidth + 1.6
    if (!isAtCrossing) addTree(site, [x, roadFar + bayDepth + 0.8], random.between(4.6, 6.2))
  }

  const places: Point[] =
    variation < 1
      ? [[-9.2, 7.6]]
      : Array.from({ length: random.integer(0, 2) }, () => [
          random.between(-9, 14),
          random.between(3, roadNear - 2),
        ])
  for (const [x, y] of places) {
    if (Math.abs(x - crossingX) < 3.5) continue
    addTree(site, [x, y], random.between(4.0, 5))
    site.obstacles.push([x, y, 0.9])
  }
}

function addTree(site: Site, [x, y]: Point, height: number): void {
  const random = site.random
  site.triangles.addPost([x, y], 0, height * 0.55, 0.17, 0.1, BARK)
  const green = random.pick(LEAVES)
  // The crown consists of round clumps of leaves.
  const clumps = Array.from({ length: CLUMPS_PER_TREE }, () => ({
    x: x + random.between(-0.9, 0.9),
    y: y + random.between(-0.9, 0.9),
    z: height * random.between(0.55, 0.92),
    radius: random.between(0.7, 1.15),
  }))
  for (let i = 0; i < LEAVES_PER_TREE; i++) {
    const clump = clumps[i % CLUMPS_PER_TREE]!
    // A random direction from the centre of the clump, as a unit vector.
    const angle = random.between(0, TAU)
    const up = random.between(-1, 1)
    const outward = Math.sqrt(1 - up * up)

    const distance = clump.radius * Math.sqrt(random.between(0.35, 1))
    const size = random.between(0.04, 0.095)
    const shade = random.between(0.6, 1.25)
    const colour: Rgb = [
      green[0] * shade * random.between(0.8, 1.3),
      green[1] * shade,
      green[2] * shade,
    ]
    site.triangles.addLeaf(
      [
        clump.x + distance * outward * cos(angle),
        clump.y + distance * outward * sin(angle),
        clump.z + distance * up * 0.85,
      ],
      () => random.between(-size, size),
      colour,
      () => [
        outward * cos(angle) * 0.7 + random.between(-0.3, 0.3),
        outward * sin(angle) * 0.7 + random.between(-0.3, 0.3),
        up * 0.7 + 0.45,
      ],
    )
  }
  site.triangles.addBox([x - 0.6, y - 0.6, 0], [x + 0.6, y + 0.6, 0.03], SOIL)
}
