import { type DetectedObject, type Point, TICKS_PER_SECOND } from '@eyrie/element'
import { createStream, openElement } from '@eyrie/element/testing'
import { describe, expect, it } from 'vitest'
import plugin from './element.ts'

const objectTracking = plugin['object-tracking-OH']

/**
 * A person centered at x with the feet at `foot`, visible from `left` to `right` (0..1 of the box).
 */
const person = (
  x: number,
  { foot = 0.7, score = 0.9, left = 0, right = 1 } = {},
): DetectedObject => ({
  class: 'person',
  score,
  bbox: { x: x - 0.05 + 0.1 * left, y: foot - 0.3, w: 0.1 * (right - left), h: 0.3 },
})

/** Runs the tracker over frames at 10 fps. Returns the tracked objects of each frame. */
async function run(frames: DetectedObject[][], args: object = {}) {
  const element = await openElement(objectTracking, { args })
  const stream = createStream(10)
  const tracked: DetectedObject[][] = []
  for (const detections of frames) {
    const result = await element.process(stream.next(detections))
    expect(objectTracking.output!.safeParse(result).success).toBe(true)
    tracked.push(result.objects!)
  }
  return tracked
}

const getIds = (frames: DetectedObject[][]) =>
  frames.map(objects => objects.map(({ track }) => track))
const repeat = (frames: number, ...objects: DetectedObject[]) =>
  Array.from({ length: frames }, () => objects)
const clamp = (value: number) => Math.min(1, Math.max(0, value))
const empty = (frames: number) => repeat(frames)
const walk = (from: number, to: number, at = (i: number) => 0.1 + 0.02 * i) =>
  Array.from({ length: to - from }, (_, i) => [person(at(from + i))])
const getTrail = (object: DetectedObject | undefined) => object?.attributes?.trail as Point[]

describe('object-tracking-OH', () => {
  describe('min_hits', () => {
    it('confirms a track after `min_hits` matches, including the first', async () => {
      expect(getIds(await run(repeat(4, person(0.5))))).toEqual([[], [], [1], [1]])
      expect(getIds(await run(repeat(2, person(0.5)), { min_hits: 1 }))).toEqual([[1], [1]])
      expect(getIds(await run(repeat(5, person(0.5)), { min_hits: 5 }))).toEqual([
        [],
        [],
        [],
        [],
        [1],
      ])
    })

    it('starts over after a frame without a match and assigns no id', async () => {
      const frames = [...repeat(2, person(0.5)), [], ...repeat(3, person(0.5))]
      expect(getIds(await run(frames)).at(-2)).toEqual([])
      expect(getIds(await run(frames)).at(-1)).toEqual([1])
    })

    it('does not count low-score detections', async () => {
      expect(getIds(await run(repeat(6, person(0.5, { score: 0.3 })))).flat()).toEqual([])
      const frames = [...repeat(1, person(0.5)), ...repeat(5, person(0.5, { score: 0.3 }))]
      expect(getIds(await run(frames)).flat()).toEqual([])
    })
  })

  describe('lost tracks', () => {
    it('completes the trail of a walker who was hidden when the stream time stepped back, because the camera has corrected its clock', async () => {
      const element = await openElement(objectTracking, { args: { moving_average: 1 } })
      const stream = createStream(10)
      let last: DetectedObject[] | undefined
      for (const [i, detections] of [...walk(0, 10), ...empty(4), ...walk(14, 16)].entries()) {
        const frame = stream.next(detections)
        const pts = i < 12 ? frame.pts : frame.pts - 0.45 * TICKS_PER_SECOND
        last = (await element.process({ ...frame, pts })).objects
      }
      const trail = getTrail(last![0]).map(({ x }) => x)
      expect(trail).toEqual(trail.toSorted())
    })

    it('recovers a walker at the predicted position', async () => {
      const frames = await run([...walk(0, 10), ...empty(12), ...walk(22, 26)])
      expect(getIds(frames.slice(10, 22)).flat()).toEqual([])
      expect(getIds(frames.slice(22))).toEqual(Array.from({ length: 4 }, () => [1]))
    })

    it('recovers a walker who has stopped at the last position', async () => {
      const frames = await run([...walk(0, 10), ...empty(12), ...walk(10, 14)])
      expect(getIds(frames.slice(22))).toEqual(Array.from({ length: 4 }, () => [1]))
    })

    it('recovers a walker who has slowed down in between', async () => {
      const later = (i: number) => 0.1 + 0.02 * (i - 7)
      const frames = await run([...walk(0, 10), ...empty(14), ...walk(24, 28, later)])
      expect(getIds(frames.slice(24))).toEqual(Array.from({ length: 4 }, () => [1]))
    })

    it('widens the gate the longer a track is lost', async () => {
      const aside = 0.3
      const returning = (frames: number) =>
        run([...repeat(10, person(0.3)), ...empty(frames), ...repeat(3, person(0.3 + aside))])
      expect(getIds(await returning(1)).at(-1)).toEqual([2])
      expect(getIds(await returning(25)).at(-1)).toEqual([1])
    })

    it('does not recover a track with a much smaller object', async () => {
      const child = { ...person(0.32), bbox: { x: 0.3, y: 0.55, w: 0.05, h: 0.15 } }
      const frames = await run([...repeat(10, person(0.3)), ...empty(5), ...repeat(3, child)])
      expect(getIds(frames).at(-1)).toEqual([2])
    })

    it('deletes a track after `max_age` analysed frames and never reuses its id', async () => {
      const last = async (gap: number) =>
        getIds(
          await run([...repeat(4, person(0.5)), ...empty(gap), ...repeat(4, person(0.5))], {
            max_age: 5,
          }),
        ).at(-1)
      expect(await last(5)).toEqual([1])
      expect(await last(6)).toEqual([2])
    })

    it('deletes all tracks at a discontinuity', async () => {
      const element = await openElement(objectTracking, { args: { min_hits: 1 } })
      const stream = createStream(10)
      const next = async (discontinuity: boolean) =>
        (await element.process(stream.next([person(0.5)], { discontinuity }))).objects!.map(
          o => o.track,
        )
      expect(await next(false)).toEqual([1])
      expect(await next(true)).toEqual([2])
    })
  })

  describe('occlusion', () => {
    /**
     * One person walks to the right behind another. Visible parts narrower than 0.35 of the
     * box are not detected.
     */
    const behind = (other: (i: number) => number) =>
      Array.from({ length: 34 }, (_, i) => {
        const [back, front] = [0.2 + 0.015 * i, other(i)]
        const visible =
          back < front
            ? person(back, { foot: 0.66, right: clamp((front - back) / 0.1) })
            : person(back, { foot: 0.66, left: clamp((front - back) / 0.1 + 1) })
        const isDetected = visible.bbox.w > 0.035
        return isDetected ? [person(front), visible] : [person(front)]
      })

    it.each([
      ['stands still', () => 0.45],
      ['walks in the opposite direction', (i: number) => 0.7 - 0.015 * i],
      ['goes the same way more slowly', (i: number) => 0.3 + 0.008 * i],
    ] as const)('retains the ids of a person and of a closer one who %s', async (_, other) => {
      const frames = behind(other)
      expect(frames.some(objects => objects.length === 1)).toBe(true)
      const tracked = await run(frames)
      const numbers = (i: number) =>
        tracked[i]!.toSorted((a, b) => a.bbox.y + a.bbox.h - b.bbox.y - b.bbox.h).map(
          ({ track }) => track,
        )
      expect(numbers(4)).toHaveLength(2)
      expect(numbers(33)).toEqual(numbers(4))
      expect(new Set(getIds(tracked).flat()).size).toBe(2)
    })

    it('completes a box that is cut off by another one', async () => {
      const tall = (x: number) => ({ ...person(x), bbox: { ...person(x).bbox, y: 0.3, h: 0.4 } })
      const frames = Array.from({ length: 20 }, (_, i) => {
        const front = Math.max(0.56, 0.7 - 0.01 * i)
        return [tall(front), person(0.5, { foot: 0.66, right: Math.min(1, (front - 0.5) / 0.1) })]
      })
      expect(frames.at(-1)![1]!.bbox.w).toBeCloseTo(0.06, 6)
      const tracked = await run(frames)
      const whole = tracked.at(-1)!.find(({ bbox }) => Math.abs(bbox.y - 0.36) < 0.01)!.bbox
      expect(whole.x).toBeCloseTo(0.45, 2)
      expect(whole.w).toBeCloseTo(0.1, 2)
    })
  })

  describe('trail', () => {
    it.each([
      ['bottom', 0.2, { x: 0.5, y: 0.67 }],
      ['bottom', 1, { x: 0.5, y: 0.55 }],
      ['top', 0.2, { x: 0.5, y: 0.43 }],
      ['left', 0.2, { x: 0.46, y: 0.55 }],
      ['right', 0.2, { x: 0.54, y: 0.55 }],
      ['center', 0.5, { x: 0.5, y: 0.55 }],
      ['box', 0.1, { x: 0.5, y: 0.55 }],
    ])('follows the region %s with ratio %d', async (region, ratio, point) => {
      const [last] = (await run(repeat(3, person(0.5)), { region, ratio })).at(-1)!
      expect(getTrail(last).at(-1)).toEqual(point)
    })

    it('is averaged over `moving_average` positions', async () => {
      const trembling = Array.from({ length: 12 }, (_, i) => [person(i % 2 === 0 ? 0.5 : 0.52)])
      const lastOf = async (average: number) =>
        getTrail((await run(trembling, { moving_average: average })).at(-1)![0])
          .slice(-2)
          .map(({ x }) => x)
      expect(await lastOf(1)).toEqual([0.5, 0.52])
      expect(await lastOf(2)).toEqual([0.51, 0.51])
    })

    it('is limited to `history` points and omitted at 0', async () => {
      const last = async (history: number) =>
        (await run(repeat(6, person(0.5)), { history })).at(-1)![0]!.attributes
      expect(await last(2)).toEqual({
        trail: Array.from({ length: 2 }, () => ({ x: 0.5, y: 0.6625 })),
      })
      expect(await last(0)).toBeUndefined()
    })

    it('is interpolated over the gap of a lost track', async () => {
      const frames = await run([...walk(0, 10), ...empty(5), ...walk(15, 16)], {
        moving_average: 1,
      })
      const x = getTrail(frames.at(-1)![0]).map(point => point.x)
      expect(x).toHaveLength(16)
      for (const [i, at] of x.entries()) expect(at).toBeCloseTo(0.1 + 0.02 * i, 3)
    })
  })

  it('retains the class of an object that is occasionally classified as another', async () => {
    const labels = ['car', 'car', 'car', 'truck', 'car', 'truck', 'truck', 'car']
    const frames = await run(
      labels.map((label, i) => [{ ...person(0.2 + 0.01 * i), class: label }]),
    )
    expect(frames.slice(2).map(objects => objects.map(o => [o.track, o.class]))).toEqual(
      Array.from({ length: 6 }, () => [[1, 'car']]),
    )
  })

  it.each([
    { max_age: 0 },
    { history: -1 },
    { min_hits: 0 },
    { moving_average: 0 },
    { ratio: 0 },
    { ratio: 1.1 },
    { region: 'foot' },
    { sampling_frequency: 1 },
  ])('rejects %o', args => {
    expect(objectTracking.args.safeParse(args).success).toBe(false)
  })

  it('has the documented defaults', () => {
    expect(objectTracking.args.parse({})).toEqual({
      max_age: 30,
      history: 50,
      min_hits: 3,
      region: 'bottom',
      ratio: 0.25,
      moving_average: 5,
    })
  })
})
