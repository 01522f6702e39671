import type { DetectedObject, Point } from '@eyrie/element'
import { createStream, openElement } from '@eyrie/element/testing'
import { describe, expect, test } from 'vitest'
import plugin from './element.ts'

const objectTracking = plugin['object-tracking-OH']

/** Somebody whose middle is at x and whose feet are at `foot`; `left` to `right` (0..1 of the box) is to be seen. */
const person = (x: number, { foot = 0.7, score = 0.9, left = 0, right = 1 } = {}): DetectedObject => ({
  class: 'person',
  score,
  bbox: { x: x - 0.05 + 0.1 * left, y: foot - 0.3, w: 0.1 * (right - left), h: 0.3 },
})

/** Runs a tracker over frames, ten a second, and gives what it hands on for each. */
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

const tracks = (frames: DetectedObject[][]) => frames.map(objects => objects.map(({ track }) => track))
const still = (frames: number, ...objects: DetectedObject[]) => Array.from({ length: frames }, () => objects)
const clamp = (value: number) => Math.min(1, Math.max(0, value))
const nobody = (frames: number) => still(frames)
const walk = (from: number, to: number, at = (i: number) => 0.1 + 0.02 * i) =>
  Array.from({ length: to - from }, (_, i) => [person(at(from + i))])
const trailOf = (object: DetectedObject | undefined) => object?.attributes?.trail as Point[]

describe('min_hits', () => {
  test('is the number of matches before a track is shown, the first included', async () => {
    expect(tracks(await run(still(4, person(0.5))))).toEqual([[], [], [1], [1]])
    expect(tracks(await run(still(2, person(0.5)), { min_hits: 1 }))).toEqual([[1], [1]])
    expect(tracks(await run(still(5, person(0.5)), { min_hits: 5 }))).toEqual([[], [], [], [], [1]])
  })

  test('is begun anew after a frame without the object, and no number is used up', async () => {
    const frames = [...still(2, person(0.5)), [], ...still(3, person(0.5))]
    expect(tracks(await run(frames)).at(-2)).toEqual([])
    expect(tracks(await run(frames)).at(-1)).toEqual([1])
  })

  test('is not reached by weak detections', async () => {
    expect(tracks(await run(still(6, person(0.5, { score: 0.3 })))).flat()).toEqual([])
    const frames = [...still(1, person(0.5)), ...still(5, person(0.5, { score: 0.3 }))]
    expect(tracks(await run(frames)).flat()).toEqual([])
  })
})

describe('out of sight', () => {
  test('a walker is found again where he should be by then', async () => {
    const frames = await run([...walk(0, 10), ...nobody(12), ...walk(22, 26)])
    expect(tracks(frames.slice(10, 22)).flat()).toEqual([])
    expect(tracks(frames.slice(22))).toEqual(Array.from({ length: 4 }, () => [1]))
  })

  test('a walker who has stood still meanwhile is found again where he was', async () => {
    const frames = await run([...walk(0, 10), ...nobody(12), ...walk(10, 14)])
    expect(tracks(frames.slice(22))).toEqual(Array.from({ length: 4 }, () => [1]))
  })

  test('a walker who was slower meanwhile is found again between', async () => {
    const later = (i: number) => 0.1 + 0.02 * (i - 7)
    const frames = await run([...walk(0, 10), ...nobody(14), ...walk(24, 28, later)])
    expect(tracks(frames.slice(24))).toEqual(Array.from({ length: 4 }, () => [1]))
  })

  test('it is known less and less where somebody may be', async () => {
    const aside = 0.3
    const returning = (frames: number) =>
      run([...still(10, person(0.3)), ...nobody(frames), ...still(3, person(0.3 + aside))])
    expect(tracks(await returning(1)).at(-1)).toEqual([2])
    expect(tracks(await returning(25)).at(-1)).toEqual([1])
  })

  test('somebody much smaller is somebody else', async () => {
    const child = { ...person(0.32), bbox: { x: 0.3, y: 0.55, w: 0.05, h: 0.15 } }
    const frames = await run([...still(10, person(0.3)), ...nobody(5), ...still(3, child)])
    expect(tracks(frames).at(-1)).toEqual([2])
  })

  test('a track lives `max_age` analysed frames, and its number is never used again', async () => {
    const last = async (gap: number) =>
      tracks(
        await run([...still(4, person(0.5)), ...nobody(gap), ...still(4, person(0.5))], { max_age: 5 }),
      ).at(-1)
    expect(await last(5)).toEqual([1])
    expect(await last(6)).toEqual([2])
  })

  test('an interruption of the stream ends all tracks', async () => {
    const element = await openElement(objectTracking, { args: { min_hits: 1 } })
    const stream = createStream(10)
    const next = async (discontinuity: boolean) =>
      (await element.process(stream.next([person(0.5)], { discontinuity }))).objects!.map(o => o.track)
    expect(await next(false)).toEqual([1])
    expect(await next(true)).toEqual([2])
  })
})

describe('hidden by others', () => {
  /** One walks to the right behind another. Of whom less than 0.35 is to be seen is not detected. */
  const behind = (other: (i: number) => number) =>
    Array.from({ length: 34 }, (_, i) => {
      const [back, front] = [0.2 + 0.015 * i, other(i)]
      const seen =
        back < front
          ? person(back, { foot: 0.66, right: clamp((front - back) / 0.1) })
          : person(back, { foot: 0.66, left: clamp((front - back) / 0.1 + 1) })
      const isSeen = seen.bbox.w > 0.035
      return isSeen ? [person(front), seen] : [person(front)]
    })

  test.each([
    ['stands in the way', () => 0.45],
    ['comes towards him', (i: number) => 0.7 - 0.015 * i],
    ['goes the same way more slowly', (i: number) => 0.3 + 0.008 * i],
  ] as const)('somebody keeps his number behind another who %s, and so does that one', async (_, other) => {
    const frames = behind(other)
    expect(frames.some(objects => objects.length === 1)).toBe(true)
    const tracked = await run(frames)
    const numbers = (i: number) =>
      tracked[i]!.toSorted((a, b) => a.bbox.y + a.bbox.h - b.bbox.y - b.bbox.h).map(({ track }) => track)
    expect(numbers(4)).toHaveLength(2)
    expect(numbers(33)).toEqual(numbers(4))
    expect(new Set(tracks(tracked).flat()).size).toBe(2)
  })

  test('a box that another one cuts is handed on whole', async () => {
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

describe('the trail', () => {
  test.each([
    ['bottom', 0.2, { x: 0.5, y: 0.67 }],
    ['bottom', 1, { x: 0.5, y: 0.55 }],
    ['top', 0.2, { x: 0.5, y: 0.43 }],
    ['left', 0.2, { x: 0.46, y: 0.55 }],
    ['right', 0.2, { x: 0.54, y: 0.55 }],
    ['center', 0.5, { x: 0.5, y: 0.55 }],
    ['box', 0.1, { x: 0.5, y: 0.55 }],
  ])('follows the part %s of ratio %d', async (region, ratio, point) => {
    const [last] = (await run(still(3, person(0.5)), { region, ratio })).at(-1)!
    expect(trailOf(last).at(-1)).toEqual(point)
  })

  test('is as smooth as `moving_average` says', async () => {
    const trembling = Array.from({ length: 12 }, (_, i) => [person(i % 2 === 0 ? 0.5 : 0.52)])
    const lastOf = async (average: number) =>
      trailOf((await run(trembling, { moving_average: average })).at(-1)![0])
        .slice(-2)
        .map(({ x }) => x)
    expect(await lastOf(1)).toEqual([0.5, 0.52])
    expect(await lastOf(2)).toEqual([0.51, 0.51])
  })

  test('holds `history` points, and is left out at 0', async () => {
    const last = async (history: number) =>
      (await run(still(6, person(0.5)), { history })).at(-1)![0]!.attributes
    expect(await last(2)).toEqual({ trail: Array.from({ length: 2 }, () => ({ x: 0.5, y: 0.6625 })) })
    expect(await last(0)).toBeUndefined()
  })

  test('goes straight on over the time out of sight', async () => {
    const frames = await run([...walk(0, 10), ...nobody(5), ...walk(15, 16)], { moving_average: 1 })
    const x = trailOf(frames.at(-1)![0]).map(point => point.x)
    expect(x).toHaveLength(16)
    for (const [i, at] of x.entries()) expect(at).toBeCloseTo(0.1 + 0.02 * i, 3)
  })
})

test('an object that the model calls a truck now and then stays one car', async () => {
  const labels = ['car', 'car', 'car', 'truck', 'car', 'truck', 'truck', 'car']
  const frames = await run(labels.map((label, i) => [{ ...person(0.2 + 0.01 * i), class: label }]))
  expect(frames.slice(2).map(objects => objects.map(o => [o.track, o.class]))).toEqual(
    Array.from({ length: 6 }, () => [[1, 'car']]),
  )
})

test.each([
  { max_age: 0 },
  { history: -1 },
  { min_hits: 0 },
  { moving_average: 0 },
  { ratio: 0 },
  { ratio: 1.1 },
  { region: 'foot' },
  { sampling_frequency: 1 },
])('refuses %o', args => {
  expect(objectTracking.args.safeParse(args).success).toBe(false)
})

test('has the defaults that the document lists', () => {
  expect(objectTracking.args.parse({})).toEqual({
    max_age: 30,
    history: 50,
    min_hits: 3,
    region: 'bottom',
    ratio: 0.25,
    moving_average: 5,
  })
})
