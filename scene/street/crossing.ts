import { type Rgb, toLinearRgb } from '../graphics/colour.ts'
import type { Mesh } from '../graphics/mesh.ts'
import type { Point } from '../maths/vectors.ts'
import type { Layout } from './layout.ts'
import type { Site } from './site.ts'

/** Duration of a cycle of all four phases. */
const CYCLE_S = 44
// The lamps from top to bottom.
const RED = 0
const AMBER = 1
const GREEN = 2
const LAMPS = [RED, AMBER, GREEN]

/** Returns the positions of the two traffic lights. */
export function getSignalPositions(layout: Layout): readonly [Point, Point] {
  const { crossingX, crossingHalfWidth, roadNear, roadFar } = layout
  return [
    [crossingX - crossingHalfWidth - 0.5, roadNear - 0.5],
    [crossingX + crossingHalfWidth + 0.5, roadFar + 0.4],
  ]
}

/** Adds the bin, the posts of the traffic lights and the signs at the crossing. */
export function addCrossing(site: Site): void {
  const { crossingX, crossingHalfWidth, roadNear, roadFar, bayDepth } = site.layout
  const bin: Point = [crossingX + crossingHalfWidth + 2.4, roadNear - 1.2]
  site.triangles.addPost(bin, 0, 0.9, 0.24, 0.27, toLinearRgb(0x2f5a40))
  site.obstacles.push([...bin, 0.5])
  for (const [x, y] of getSignalPositions(site.layout)) {
    site.triangles.addPost([x, y], 0, 2.9, 0.055, 0.05, toLinearRgb(0x3a3e40))
    site.triangles.addBox(
      [x - 0.14, y - 0.12, 2.2],
      [x + 0.14, y + 0.12, 2.95],
      toLinearRgb(0x15171a),
    )
    site.obstacles.push([x, y, 0.3])
  }
  for (const side of [-1, 1]) {
    const x = crossingX + side * (crossingHalfWidth + 3.2)
    const y = roadFar + bayDepth + 0.4
    const front = y - 0.04
    const colour = toLinearRgb(side > 0 ? 0x2050a0 : 0xc02020)
    site.triangles.addPost([x, y], 0, 2.6, 0.035, 0.035, toLinearRgb(0x8a8e90), 8)
    site.triangles.addStrip([x - 0.3, x + 0.3], [front, 2.0], [front, 2.6], colour)
  }
}

/**
 * Phase of the traffic light. `cars` and `people` name who has a green light; in `clear`,
 * both have a red light.
 */
export type SignalPhase = 'cars' | 'amber' | 'people' | 'clear'

export function getSignalPhase(timeS: number): SignalPhase {
  const cycleTimeS = timeS % CYCLE_S
  if (cycleTimeS < 24) return 'cars'
  if (cycleTimeS < 27) return 'amber'
  return cycleTimeS < 40 ? 'people' : 'clear'
}

const LIT_LAMPS: Record<SignalPhase, number> = {
  cars: GREEN,
  amber: AMBER,
  people: RED,
  clear: RED,
}
const LIT_COLOURS: readonly Rgb[] = [
  [2.2, 0.15, 0.1],
  [2.0, 1.1, 0.1],
  [0.15, 2.0, 0.6],
]
const DARK_COLOURS: readonly Rgb[] = [
  [0.05, 0.01, 0.01],
  [0.05, 0.03, 0.01],
  [0.01, 0.04, 0.02],
]
/**
 * The sides of a traffic light that have lamps: the front, which faces the camera,
 * the left and the right.
 */
const FACES = [
  [0, -1],
  [-1, 0],
  [1, 0],
] as const

/** Adds the lamps of a traffic light on three of its sides. */
export function addSignalLamps(mesh: Mesh, x: number, y: number, phase: SignalPhase): void {
  const litLamp = LIT_LAMPS[phase]
  for (const lamp of LAMPS) {
    const colours = lamp === litLamp ? LIT_COLOURS : DARK_COLOURS
    for (const heading of FACES) {
      mesh.addEllipsoid({
        centre: [x + heading[0] * 0.13, y + heading[1] * 0.12, 2.82 - lamp * 0.23],
        radii: [0.075, 0.03, 0.075],
        heading,
        sides: 8,
        rings: 6,
        colour: colours[lamp]!,
        gloss: 0.2,
      })
    }
  }
}
