import type { Point } from '@eyrie/element'
import { createRandom, createStream, openElement } from '@eyrie/element/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import lineCrossing from '../../../plugins/line-crossing/element.ts'
import type { Path } from './path-recorder.ts'
import { describeLine, type ProposedLine, proposeLines } from './propose-lines.ts'

type Position = [x: number, y: number]

const STEPS = 60
const { uniform, gauss } = createRandom(7)

const clamp = (value: number) => Math.min(1, Math.max(0, value))
const toPoint = (x: number, y: number): Point => ({ x: clamp(x), y: clamp(y) })

/** A path in equal steps with the noise of a detector. */
const move = ([fromX, fromY]: Position, [toX, toY]: Position): Path =>
  Array.from({ length: STEPS + 1 }, (_, i) =>
    toPoint(
      fromX + ((toX - fromX) * i) / STEPS + 0.003 * gauss(),
      fromY + ((toY - fromY) * i) / STEPS + 0.003 * gauss(),
    ),
  )

const repeat = (count: number, create: (i: number) => Path) =>
  Array.from({ length: count }, (_, i) => create(i))

/** Vehicles on a road across the picture, from left to right. */
const toTheRight = (count: number, y = 0.6) =>
  repeat(count, i => move([0, y + 0.03 * (i % 4)], [1, y + 0.03 * (i % 4)]))
/** Vehicles on a road down the picture. */
const downwards = (count: number, x = 0.5) =>
  repeat(count, i => move([x + 0.02 * (i % 4), 0], [x + 0.02 * (i % 4), 1]))
const backwards = (paths: Path[]) => paths.map(path => path.toReversed())

/** A person who stands, whose box trembles. */
const stand = (x: number, y: number): Path => repeat(1, () => move([x, y], [x, y]))[0]!

const getMiddle = ({ coords: [a, b] }: ProposedLine) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })

/** The counters of `line-crossing` for objects that move along the paths, one after the other. */
async function count(lines: ProposedLine[], paths: Path[]) {
  const config = { 1: { lines: lines.map(({ name, coords }) => ({ name, coords })) } }
  const element = await openElement(lineCrossing['line-crossing'], { config })
  const stream = createStream(25)
  let counters = {}
  for (const [track, path] of paths.entries()) {
    for (const { x, y } of path) {
      // The center of the lowest quarter is the position.
      const bbox = { x: x - 0.01, y: y - 0.0175, w: 0.02, h: 0.02 }
      const result = await element.process(
        stream.next([{ class: 'car', score: 0.9, bbox, track: track + 1 }]),
      )
      counters = result.counters ?? counters
    }
  }
  return counters
}

describe('lines proposed across paths', () => {
  it('stand upright on a road across the picture, in its middle and over all lanes', async () => {
    const paths = toTheRight(8)
    const lines = proposeLines(paths)
    expect(lines).toMatchObject([
      { name: 'path', up: { paths: 8, heading: 'to the right' }, down: { paths: 0 } },
    ])
    const [bottom, top] = lines[0]!.coords
    expect(bottom.x).toBeCloseTo(0.5, 1)
    expect(top.x).toBeCloseTo(0.5, 1)
    expect(top.y).toBeLessThan(0.58)
    expect(bottom.y).toBeGreaterThan(0.71)
    expect(await count(lines, paths)).toEqual({ path: { up: 8, down: 0, total: 8 } })
  })

  it('lie flat on a road down the picture', async () => {
    const paths = downwards(5)
    const lines = proposeLines(paths)
    expect(lines).toMatchObject([{ up: { paths: 5, heading: 'downwards' } }])
    const [left, right] = lines[0]!.coords
    expect(left.y).toBeCloseTo(right.y, 1)
    expect(Math.min(left.x, right.x)).toBeLessThan(0.49)
    expect(Math.max(left.x, right.x)).toBeGreaterThan(0.57)
    expect(await count(lines, paths)).toEqual({ path: { up: 5, down: 0, total: 5 } })
  })

  it('look perpendicular to a diagonal road in a picture of 16:9', () => {
    const [line] = proposeLines(repeat(4, i => move([0.1, 0.1 + 0.05 * i], [0.7, 0.7 + 0.05 * i])))
    const [a, b] = line!.coords
    const road = { x: 0.6 * 16, y: 0.6 * 9 }
    const across = { x: (b.x - a.x) * 16, y: (b.y - a.y) * 9 }
    const cosine =
      (road.x * across.x + road.y * across.y) /
      (Math.hypot(road.x, road.y) * Math.hypot(across.x, across.y))
    expect(Math.abs(cosine)).toBeLessThan(0.05)
    expect(line!.up.heading).toBe('down to the right')
  })

  it('count both directions of one road with a single line, most objects as up', async () => {
    const paths = [...toTheRight(3, 0.75), ...backwards(toTheRight(6))]
    const lines = proposeLines(paths)
    expect(lines).toMatchObject([
      { up: { paths: 6, heading: 'to the left' }, down: { paths: 3, heading: 'to the right' } },
    ])
    expect(await count(lines, paths)).toEqual({ path: { up: 6, down: 3, total: 9 } })
  })

  it('count each of two crossing roads alone', async () => {
    const paths = [...toTheRight(8), ...downwards(5)]
    const lines = proposeLines(paths)
    expect(lines.map(({ name, up, down }) => [name, up.paths, down.paths])).toEqual([
      ['path', 8, 0],
      ['path-2', 5, 0],
    ])
    expect(await count(lines, paths)).toEqual({
      path: { up: 8, down: 0, total: 8 },
      'path-2': { up: 5, down: 0, total: 5 },
    })
  })

  it('count two parallel roads that are far apart with a line each', () => {
    const lines = proposeLines([...toTheRight(5, 0.8), ...toTheRight(4, 0.2)])
    expect(lines.map(({ up }) => up.paths)).toEqual([5, 4])
    expect(getMiddle(lines[0]!).y).toBeGreaterThan(0.7)
    expect(getMiddle(lines[1]!).y).toBeLessThan(0.4)
  })

  it('cross all lanes of a road that perspective spreads', async () => {
    const paths = [0.1, 0.3, 0.5, 0.7, 0.9].map(x => move([0.45 + x / 10, 0.2], [x, 1]))
    const lines = proposeLines(paths)
    expect(lines).toHaveLength(1)
    expect(await count(lines, paths)).toEqual({ path: { up: 5, down: 0, total: 5 } })
  })

  it('keep away from the places where objects appear and disappear', () => {
    const [line] = proposeLines(repeat(5, i => move([0, 0.5 + 0.02 * i], [0.5, 0.5 + 0.02 * i])))
    expect(getMiddle(line!).x).toBeCloseTo(0.25, 1)
  })

  it('stand where most paths pass if objects are followed only in parts', () => {
    const first = repeat(3, i => move([0, 0.5 + 0.02 * i], [0.6, 0.5 + 0.02 * i]))
    const second = repeat(4, i => move([0.4, 0.5 + 0.02 * i], [1, 0.5 + 0.02 * i]))
    const [line] = proposeLines([...first, ...second])
    expect(line!.up.paths).toBe(7)
    expect(getMiddle(line!).x).toBeCloseTo(0.5, 1)
  })

  it('are not disturbed by people who stand, by short tracks or by tracks that jump', async () => {
    const standing = repeat(12, i => stand(0.1 + 0.07 * i, 0.3 + 0.05 * i))
    const short = repeat(30, () => {
      const [x, y] = [uniform(), uniform()]
      return move([x, y], [x + 0.05 * gauss(), y + 0.05 * gauss()])
    })
    const jumping = repeat(6, () => Array.from({ length: 20 }, () => toPoint(uniform(), uniform())))
    const lines = proposeLines([...standing, ...short, ...jumping, ...toTheRight(6)])
    expect(lines).toHaveLength(1)
    expect(await count(lines, toTheRight(6))).toEqual({ path: { up: 6, down: 0, total: 6 } })
  })

  it.each<[reason: string, paths: Path[]]>([
    ['nothing was followed', []],
    ['people only stand', repeat(20, i => stand(0.05 * i, 0.5))],
    ['two objects moved', toTheRight(2)],
    [
      'three objects moved on three different paths',
      [...toTheRight(1), ...downwards(1), ...toTheRight(1, 0.1)],
    ],
    [
      'people only go back and forth',
      repeat(5, i => [
        ...move([0.2, 0.1 * i], [0.7, 0.1 * i]),
        ...move([0.7, 0.1 * i], [0.2, 0.1 * i]),
      ]),
    ],
    ['objects were detected once', repeat(9, () => [{ x: 0.5, y: 0.5 }])],
  ])('do not exist if %s', (_, paths) => {
    expect(proposeLines(paths)).toEqual([])
  })

  it('are at most three different lines inside the picture for any paths', () => {
    const coordinate = fc.double({ min: 0, max: 1, noNaN: true })
    const point = fc.record({ x: coordinate, y: coordinate })
    const paths = fc.array(fc.array(point, { minLength: 1, maxLength: 8 }), { maxLength: 25 })
    fc.assert(
      fc.property(paths, value => {
        const lines = proposeLines(value)
        expect(lines.length).toBeLessThanOrEqual(3)
        for (const { coords, up, down } of lines) {
          expect(coords[0]).not.toEqual(coords[1])
          for (const { x, y } of coords) {
            expect([x, y].every(share => share >= 0 && share <= 1)).toBe(true)
          }
          expect(up.paths + down.paths).toBeGreaterThanOrEqual(3)
        }
      }),
    )
  })

  it('are described by what they count', () => {
    const [line] = proposeLines([...toTheRight(4), ...backwards(toTheRight(1))])
    expect(describeLine(line!)).toBe(
      'path: 4 objects moved to the right (up), 1 to the left (down)',
    )
  })
})
