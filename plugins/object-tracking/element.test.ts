import type { DetectedObject } from '@eyrie/element'
import { createStream, openElement } from '@eyrie/element/testing'
import { expect, test } from 'vitest'
import plugin from './element.ts'

const objectTracking = plugin['object-tracking']

/** A box of 0.1 × 0.2 whose middle is at (x, y). */
const object = (x: number, y: number, { class: label = 'person', score = 0.9 } = {}): DetectedObject => ({
  class: label,
  score,
  bbox: { x: x - 0.05, y: y - 0.1, w: 0.1, h: 0.2 },
})

/** Runs a tracker over frames, ten a second, and gives what it hands on for each. */
async function run(frames: DetectedObject[][], args: object = {}) {
  const element = await openElement(objectTracking, { args })
  const stream = createStream(10)
  const tracked: DetectedObject[][] = []
  for (const detections of frames) {
    const { objects } = await element.process(stream.next(detections))
    tracked.push(objects!)
  }
  return tracked
}

const tracks = (frames: DetectedObject[][]) => frames.map(objects => objects.map(({ track }) => track))
const still = (frames: number, ...objects: DetectedObject[]) => Array.from({ length: frames }, () => objects)
const middle = ({ bbox }: DetectedObject) => bbox.x + bbox.w / 2

test('a second detection makes a track of the first; it keeps its number', async () => {
  expect(tracks(await run(still(4, object(0.5, 0.5))))).toEqual([[], [1], [1], [1]])
})

test('one false detection makes no track, and uses up no number', async () => {
  const frames = [[object(0.1, 0.1)], [], [object(0.5, 0.5)], [object(0.5, 0.5)]]
  expect(tracks(await run(frames))).toEqual([[], [], [], [1]])
})

test('what is detected is handed on as it is, with its number and its trail', async () => {
  const moving = [0.2, 0.22, 0.24].map(x => [{ ...object(x, 0.5), attributes: { colour: 'red' } }])
  const last = (await run(moving)).at(-1)![0]
  expect(last).toEqual({
    ...object(0.24, 0.5),
    track: 1,
    attributes: {
      colour: 'red',
      trail: [
        { x: 0.2, y: 0.6 },
        { x: 0.22, y: 0.6 },
        { x: 0.24, y: 0.6 },
      ],
    },
  })
})

test('a trail holds the last `history` positions, and is left out at 0', async () => {
  const moving = [0.2, 0.22, 0.24, 0.26].map(x => [object(x, 0.5)])
  const trail = (history: number) => run(moving, { history }).then(frames => frames.at(-1)![0]!.attributes)
  expect(await trail(2)).toEqual({
    trail: [
      { x: 0.24, y: 0.6 },
      { x: 0.26, y: 0.6 },
    ],
  })
  expect(await trail(0)).toBeUndefined()
})

test('a trail stays in the picture where a box reaches over its edge', async () => {
  const last = (await run(still(3, object(0.5, 0.95)))).at(-1)![0]
  expect(last?.bbox).toEqual(object(0.5, 0.95).bbox)
  expect(last?.attributes?.trail).toContainEqual({ x: 0.5, y: 1 })
})

test('a covered object is not shown, and is found again where it should be by then', async () => {
  const walking = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => [object(0.1 + 0.02 * (from + i), 0.5)])
  const frames = await run([...walking(0, 10), ...still(12), ...walking(22, 30)])
  expect(tracks(frames.slice(10, 22)).flat()).toEqual([])
  expect(tracks(frames.slice(22))).toEqual(Array.from({ length: 8 }, () => [1]))
})

test('after `max_age` frames without a match a track is given up, and its number never used again', async () => {
  const seen = still(3, object(0.5, 0.5))
  const last = async (gap: number) =>
    tracks(await run([...seen, ...still(gap), ...seen], { max_age: 5 })).at(-1)
  expect(await last(5)).toEqual([1])
  expect(await last(6)).toEqual([2])
})

test('an interruption of the stream ends all tracks', async () => {
  const element = await openElement(objectTracking)
  const stream = createStream(10)
  const next = async (discontinuity: boolean) =>
    (await element.process(stream.next([object(0.5, 0.5)], { discontinuity }))).objects!.map(o => o.track)
  await next(false)
  expect(await next(false)).toEqual([1])
  expect(await next(true)).toEqual([])
  expect(await next(false)).toEqual([2])
})

test('two people who pass each other keep their numbers, though one is covered by the other meanwhile', async () => {
  const frames = Array.from({ length: 30 }, (_, i) => {
    const right = object(0.2 + 0.02 * i, 0.5)
    const left = object(0.8 - 0.02 * i, 0.51)
    return Math.abs(middle(right) - middle(left)) < 0.07 ? [left] : [right, left]
  })
  const tracked = await run(frames)
  const before = tracked[5]!.toSorted((a, b) => middle(a) - middle(b))
  const after = tracked.at(-1)!.toSorted((a, b) => middle(a) - middle(b))
  expect(before.map(({ track }) => track)).toHaveLength(2)
  expect(after.map(({ track }) => track)).toEqual(before.map(({ track }) => track).toReversed())
})

test('a weak detection continues a track, and where nothing moves it begins none', async () => {
  const weak = still(3, object(0.5, 0.5, { score: 0.15 }))
  expect(tracks(await run([...still(2, object(0.5, 0.5)), ...weak])).at(-1)).toEqual([1])
  expect(tracks(await run(weak)).flat()).toEqual([])
})

test('weak detections that move together are an object, also where some are missing or of another class', async () => {
  const moving = (steps: number) =>
    Array.from({ length: steps }, (_, i) => {
      const label = i % 3 === 0 ? 'truck' : 'car'
      return i % 5 === 4 ? [] : [object(0.2 + 0.02 * i, 0.5, { class: label, score: 0.2 })]
    })
  const numbers = (frames: DetectedObject[][]) => run(frames).then(tracked => tracks(tracked).flat())
  expect(new Set(await numbers(moving(20)))).toEqual(new Set([1]))
  expect(await numbers(moving(5))).toEqual([])
})

test('a weak second opinion on what is followed begins no track of its own', async () => {
  const frames = Array.from({ length: 20 }, (_, i) => [
    object(0.2 + 0.02 * i, 0.5),
    object(0.21 + 0.02 * i, 0.5, { class: 'bicycle', score: 0.3 }),
  ])
  expect(new Set(tracks(await run(frames)).flat())).toEqual(new Set([1]))
})

test('a first detection waits for the second through weak ones and a short gap', async () => {
  const scores = async (...all: number[]) =>
    tracks(await run(all.map(score => (score > 0 ? [object(0.5, 0.5, { score })] : [])))).flat()
  expect(await scores(0.5, 0.3, 0.3, 0.5)).toEqual([1])
  expect(await scores(0.5, 0.3, 0.3, 0.3)).toEqual([])
  expect(await scores(0.5, 0.3, 0, 0.5)).toEqual([1])
  expect(await scores(0.5, 0, 0, 0, 0.5)).toEqual([])
})

test('a weak detection beside its object hardly moves it', async () => {
  const aside = object(0.53, 0.5, { score: 0.2 })
  const last = (await run([...still(10, object(0.5, 0.5)), ...still(2, aside)])).at(-1)!
  expect(last.map(({ track }) => track)).toEqual([1])
  expect(middle(last[0]!)).toBeLessThan(0.515)
})

test('an object that the model calls a truck now and then stays one car', async () => {
  const labels = ['car', 'car', 'car', 'truck', 'car', 'truck', 'truck', 'car']
  const frames = await run(labels.map((label, i) => [object(0.2 + 0.01 * i, 0.5, { class: label })]))
  expect(frames.slice(1).map(objects => objects.map(o => [o.track, o.class]))).toEqual(
    Array.from({ length: 7 }, () => [[1, 'car']]),
  )
})

test('neighbours of different classes are followed each for itself', async () => {
  const rider = object(0.5, 0.5)
  const bicycle = object(0.5, 0.58, { class: 'bicycle' })
  const frames = await run([...still(3, rider, bicycle), ...still(3, bicycle), ...still(3, rider, bicycle)])
  const names = (objects: DetectedObject[]) => objects.map(o => `${o.class} ${o.track}`).sort()
  expect(names(frames.at(4)!)).toEqual(['bicycle 2'])
  expect(names(frames.at(-1)!)).toEqual(['bicycle 2', 'person 1'])
})

test('something fast is followed from its first frames on', async () => {
  const frames = Array.from({ length: 8 }, (_, i) => [object(0.1 + 0.08 * i, 0.5)])
  expect(tracks(await run(frames)).slice(1)).toEqual(Array.from({ length: 7 }, () => [1]))
})

test('between the frames that are sampled positions are predicted', async () => {
  const truth = Array.from({ length: 31 }, (_, i) => 0.1 + 0.02 * i)
  const frames = await run(
    truth.map((x, i) => [object(i % 3 === 0 ? x : 0.9, 0.5)]),
    { sampling_frequency: 3 },
  )
  for (const [i, objects] of frames.entries()) {
    if (i < 12) continue
    expect(objects.map(({ track }) => track)).toEqual([1])
    expect(middle(objects[0]!)).toBeCloseTo(truth[i]!, 2)
  }
})

test('dropped frames do not bend the path: time is taken from the stream', async () => {
  const element = await openElement(objectTracking)
  const stream = createStream(10)
  let tracked: DetectedObject[] = []
  // 0.2 of the picture a second, seen at irregular times.
  for (const skip of [0, 0, 0, 0, 0, 0, 4, 0, 2, 7, 0, 1, 5]) {
    const frame = stream.next([], { skip })
    const x = 0.1 + (0.2 * frame.pts) / 90_000
    tracked = (await element.process({ ...frame, objects: [object(x, 0.5)] })).objects!
  }
  expect(tracked.map(({ track }) => track)).toEqual([1])
})

test.each([{ max_age: 0 }, { history: -1 }, { sampling_frequency: 0 }, { max_age: 1.5 }, { min_hits: 3 }])(
  'refuses %o',
  args => {
    expect(objectTracking.args.safeParse(args).success).toBe(false)
  },
)
