import type { BBox, Counters, DetectedObject, EventData } from '@eyrie/element'
import { createStream, openElement } from '@eyrie/element/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import plugin from './element.ts'

const lineCrossing = plugin['line-crossing']
const door = {
  name: 'door',
  coords: [
    { x: 0.2, y: 0.5 },
    { x: 0.8, y: 0.5 },
  ],
}

/** A box of 0.1 × 0.2 whose lowest quarter is centered at (x, y). */
const boxAt = (x: number, y: number): BBox => ({ x: x - 0.05, y: y - 0.175, w: 0.1, h: 0.2 })
const person = (x: number, y: number, track = 1): DetectedObject => ({
  class: 'person',
  score: 0.9,
  bbox: boxAt(x, y),
  track,
})

/** Runs the element over frames. Returns all events and the last counters. */
async function run(
  frames: DetectedObject[][],
  args: object = {},
  config: object = { 1: { lines: [door] } },
) {
  const element = await openElement(lineCrossing, { args, config })
  const stream = createStream(25)
  const events: EventData[] = []
  let counters: Counters = {}
  for (const objects of frames) {
    const result = await element.process(stream.next(objects))
    events.push(...(result.events ?? []))
    counters = result.counters ?? counters
  }
  return { events, counters }
}

const walk = (ys: number[], track = 1) => ys.map(y => [person(0.5, y, track)])
const empty = (frames: number): DetectedObject[][] => Array.from({ length: frames }, () => [])

describe('line-crossing', () => {
  it('counts a crossing once and emits an event in its frame', async () => {
    const { events, counters } = await run(walk([0.4, 0.45, 0.55, 0.6]))
    expect(counters).toEqual({ door: { up: 1, down: 0, total: 1 } })
    expect(events).toEqual([
      {
        type: 'line-crossing',
        name: 'door',
        direction: 'up',
        track: 1,
        class: 'person',
        bbox: boxAt(0.5, 0.55),
      },
    ])
  })

  it('counts the way back as down', async () => {
    expect((await run(walk([0.4, 0.6, 0.4]))).counters).toEqual({
      door: { up: 1, down: 1, total: 2 },
    })
  })

  it('returns counters of all lines of the source from the first frame on', async () => {
    const gate = { ...door, name: 'gate' }
    const config = {
      '1,7': { lines: [door] },
      1: { lines: [gate] },
      2: { lines: [{ ...door, name: 'far' }] },
    }
    const zero = { up: 0, down: 0, total: 0 }
    expect((await run([[]], {}, config)).counters).toEqual({ door: zero, gate: zero })
  })

  it('exposes the lines of the source as metadata', async () => {
    const config = { 2: { lines: [{ ...door, name: 'far' }] }, '0,1': { lines: [door] } }
    expect((await openElement(lineCrossing, { config })).metadata).toEqual({ lines: [door] })
    expect((await openElement(lineCrossing)).metadata).toEqual({ lines: [] })
  })

  it('rejects two lines of the same name for a source', async () => {
    const config = { 1: { lines: [door] }, '1,2': { lines: [door] } }
    await expect(openElement(lineCrossing, { config })).rejects.toThrow(
      'config has two lines named "door" for source 1: rename one of them',
    )
  })

  it('ignores objects without a track', async () => {
    const frames = walk([0.4, 0.6]).map(([object]) => [{ ...object!, track: undefined }])
    expect((await run(frames)).counters.door).toEqual({ up: 0, down: 0, total: 0 })
  })

  it('counts only the configured directions', async () => {
    const frames = walk([0.4, 0.6, 0.4])
    expect((await run(frames, { directions: [0] })).counters.door).toEqual({
      up: 1,
      down: 0,
      total: 1,
    })
    const { counters, events } = await run(frames, { directions: [1] })
    expect(counters.door).toEqual({ up: 0, down: 1, total: 1 })
    expect(events.map(({ direction }) => direction)).toEqual(['down'])
  })

  it('bridges gaps of up to `history` frames', async () => {
    const across = (gap: number) => [...walk([0.4]), ...empty(gap), ...walk([0.6])]
    expect((await run(across(5), { history: 5 })).counters.door?.total).toBe(1)
    expect((await run(across(6), { history: 5 })).counters.door?.total).toBe(0)
  })

  describe('of a track that appears beyond the line', () => {
    /**
     * Points of a trail: the middle of the lower edge, which is 0.025 below the center
     * of the lowest quarter.
     */
    const trail = (...ys: number[]) => ys.map(y => ({ x: 0.5, y: y + 0.025 }))
    const appearing = (y: number, ys: number[], track = 1) => [
      { ...person(0.5, y, track), attributes: { trail: trail(...ys, y) } },
    ]

    it('counts the crossing if its trail crosses the line', async () => {
      const { events, counters } = await run([[], appearing(0.6, [0.4, 0.48, 0.55])])
      expect(counters.door).toEqual({ up: 1, down: 0, total: 1 })
      expect(events.map(({ track, direction }) => [track, direction])).toEqual([[1, 'up']])
    })

    it('counts no crossing that its trail does not show', async () => {
      expect((await run([[], appearing(0.6, [0.52, 0.56])])).events).toEqual([])
      expect((await run([[], [person(0.5, 0.6)]])).events).toEqual([])
    })

    it('ignores the trail of a track that existed before', async () => {
      const trailing = appearing(0.6, [0.4, 0.48, 0.55])
      expect((await run([trailing])).events).toEqual([])
      const gone = [...walk([0.4, 0.6]), ...empty(6), trailing]
      expect((await run(gone, { history: 5 })).counters.door).toEqual({ up: 1, down: 0, total: 1 })
    })

    it('counts the crossing after a discontinuity, when trackers assign ids anew', async () => {
      const element = await openElement(lineCrossing, { config: { 1: { lines: [door] } } })
      const stream = createStream(25)
      await element.process(stream.next([person(0.8, 0.4, 500)]))
      const trailing = appearing(0.6, [0.4, 0.48, 0.55])
      // The path of a track that is in the first frame is not known to be new.
      await element.process(stream.next(trailing, { discontinuity: true }))
      const { counters } = await element.process(
        stream.next([...trailing, ...appearing(0.6, [0.4, 0.48, 0.55], 2)]),
      )
      expect(counters?.door).toEqual({ up: 1, down: 0, total: 1 })
    })

    it.each([[[]], ['long'], [[{ x: 0.5 }]]])('ignores the trail %j', async invalid => {
      const frame = [{ ...person(0.5, 0.6), attributes: { trail: invalid } }]
      expect((await run([[], frame])).events).toEqual([])
    })
  })

  it('does not connect positions across a discontinuity', async () => {
    const element = await openElement(lineCrossing, { config: { 1: { lines: [door] } } })
    const stream = createStream(25)
    await element.process(stream.next([person(0.5, 0.4)]))
    const { counters } = await element.process(
      stream.next([person(0.5, 0.6)], { discontinuity: true }),
    )
    expect(counters).toEqual({ door: { up: 0, down: 0, total: 0 } })
  })

  it.each([
    ['bottom', 0.25, 0.375],
    ['bottom', 0.5, 0.35],
    ['top', 0.25, 0.225],
    ['center', 0.25, 0.3],
    ['box', 0.25, 0.3],
    ['left', 0.25, 0.3],
  ] as const)('uses the center of region %s with ratio %d', async (region, ratio, y) => {
    // The line is just above or just below the center of the region in the first frame.
    const at = (line: number) => ({
      1: { lines: [{ name: 'door', coords: door.coords.map(({ x }) => ({ x, y: line })) }] },
    })
    const frames = [0.2, 0.3].map(top => [
      { ...person(0, 0), bbox: { x: 0.45, y: top, w: 0.1, h: 0.2 } },
    ])
    expect((await run(frames, { region, ratio }, at(y + 0.01))).counters.door?.up).toBe(1)
    expect((await run(frames, { region, ratio }, at(y - 0.01))).counters.door?.up).toBe(0)
  })

  it('counts two people who pass each other in both directions', async () => {
    const down = [0.4, 0.46, 0.52, 0.58]
    const frames = down.map((y, i) => [person(0.45, y, 1), person(0.55, down.at(-1 - i)!, 2)])
    expect((await run(frames)).counters.door).toEqual({ up: 1, down: 1, total: 2 })
  })

  it('counts one crossing regardless of jitter', async () => {
    const tremble = fc.array(fc.double({ min: -0.009, max: 0.009, noNaN: true }), { maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(tremble, tremble, async (before, after) => {
        const ys = [0.4, ...before.map(d => 0.5 + d), 0.5, ...after.map(d => 0.5 + d), 0.6]
        const { counters, events } = await run(walk(ys))
        expect(counters.door).toEqual({ up: 1, down: 0, total: 1 })
        expect(events).toHaveLength(1)
      }),
    )
  })

  it('detects an object at the edge of the picture that crosses a line ending there', async () => {
    const kerb = {
      name: 'kerb',
      coords: [
        { x: 0.5, y: 1 },
        { x: 0.5, y: 0.6 },
      ],
    }
    const frames = [0.3, 0.4, 0.5, 0.6, 0.7].map(x => [
      { ...person(x, 0, 1), bbox: { x, y: 0.9, w: 0.1, h: 0.15 } },
    ])
    expect((await run(frames, {}, { 1: { lines: [kerb] } })).counters.kerb?.total).toBe(1)
  })

  it('counts the way back only if it goes farther than jitter', async () => {
    const { w, h } = person(0.5, 0.5, 1).bbox
    const size = Math.max(w, h)
    const jittering = Array.from({ length: 50 }, (_, i) => 0.5 + (i % 2 === 0 ? -0.2 : 0.2) * size)
    const types = async (ys: number[]) =>
      (await run(walk(ys))).events.map(({ direction }) => direction)
    expect(await types([0.4, 0.6, ...jittering])).toHaveLength(1)
    expect(await types([0.4, 0.6, ...jittering, 0.4])).toHaveLength(2)
  })

  it('ignores jitter on the line if the object turns back', async () => {
    expect((await run(walk([0.4, 0.495, 0.505, 0.498, 0.503, 0.4]))).events).toEqual([])
  })

  it.each([
    { directions: [2] },
    { directions: [] },
    { history: 0 },
    { region: 'middle' },
    { ratio: 0 },
    { ratio: 1.1 },
  ])('rejects %o', args => {
    expect(lineCrossing.args.safeParse(args).success).toBe(false)
  })

  it.each([
    { lines: [door] },
    { door: { lines: [door] } },
    { 1: { lines: [door, door] } },
    { 1: { lines: [{ name: 'door', coords: [{ x: 0.5, y: 0.5 }] }] } },
  ])('rejects the config %o', config => {
    expect(lineCrossing.config?.safeParse(config).success).toBe(false)
  })
})
