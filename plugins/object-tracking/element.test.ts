import { type DetectedObject, TICKS_PER_SECOND } from '@eyrie/element'
import { createStream, openElement } from '@eyrie/element/testing'
import { describe, expect, it } from 'vitest'
import plugin from './element.ts'

const objectTracking = plugin['object-tracking']

/** A box of 0.1 × 0.2 centered at (x, y). */
const object = (
  x: number,
  y: number,
  { class: label = 'person', score = 0.9 } = {},
): DetectedObject => ({
  class: label,
  score,
  bbox: { x: x - 0.05, y: y - 0.1, w: 0.1, h: 0.2 },
})

interface Detected {
  objects?: DetectedObject[]
  lowScoreObjects?: DetectedObject[]
}

/** Runs the tracker over frames at 10 fps. Returns the tracked objects of each frame. */
const run = (frames: DetectedObject[][], args: object = {}) =>
  runOn(
    frames.map(objects => ({ objects })),
    args,
  )

async function runOn(frames: Detected[], args: object = {}) {
  const element = await openElement(objectTracking, { args })
  const stream = createStream(10)
  const tracked: DetectedObject[][] = []
  for (const { objects = [], lowScoreObjects = [] } of frames) {
    const result = await element.process(stream.next(objects, { lowScoreObjects }))
    expect(result.lowScoreObjects).toEqual([])
    tracked.push(result.objects!)
  }
  return tracked
}

const getIds = (frames: DetectedObject[][]) =>
  frames.map(objects => objects.map(({ track }) => track))
const repeat = (frames: number, ...objects: DetectedObject[]) =>
  Array.from({ length: frames }, () => objects)
const centerX = ({ bbox }: DetectedObject) => bbox.x + bbox.w / 2

describe('object-tracking', () => {
  it('confirms a track with the second detection and retains its id', async () => {
    expect(getIds(await run(repeat(4, object(0.5, 0.5))))).toEqual([[], [1], [1], [1]])
  })

  it('does not assign an id to a single false positive', async () => {
    const frames = [[object(0.1, 0.1)], [], [object(0.5, 0.5)], [object(0.5, 0.5)]]
    expect(getIds(await run(frames))).toEqual([[], [], [], [1]])
  })

  it('returns detections unchanged except for track id and trail', async () => {
    const moving = [0.2, 0.22, 0.24].map(x => [
      { ...object(x, 0.5), attributes: { colour: 'red' } },
    ])
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

  it('limits the trail to `history` positions and omits it at 0', async () => {
    const moving = [0.2, 0.22, 0.24, 0.26].map(x => [object(x, 0.5)])
    const trail = (history: number) =>
      run(moving, { history }).then(frames => frames.at(-1)![0]!.attributes)
    expect(await trail(2)).toEqual({
      trail: [
        { x: 0.24, y: 0.6 },
        { x: 0.26, y: 0.6 },
      ],
    })
    expect(await trail(0)).toBeUndefined()
  })

  it('clips the trail to the picture', async () => {
    const last = (await run(repeat(3, object(0.5, 0.95)))).at(-1)![0]
    expect(last?.bbox).toEqual(object(0.5, 0.95).bbox)
    expect(last?.attributes?.trail).toContainEqual({ x: 0.5, y: 1 })
  })

  it('omits an occluded object and recovers it at its predicted position', async () => {
    const walking = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => [object(0.1 + 0.02 * (from + i), 0.5)])
    const frames = await run([...walking(0, 10), ...repeat(12), ...walking(22, 30)])
    expect(getIds(frames.slice(10, 22)).flat()).toEqual([])
    expect(getIds(frames.slice(22))).toEqual(Array.from({ length: 8 }, () => [1]))
  })

  it('deletes a track after `max_age` frames without a match and never reuses its id', async () => {
    const seen = repeat(3, object(0.5, 0.5))
    const last = async (gap: number) =>
      getIds(await run([...seen, ...repeat(gap), ...seen], { max_age: 5 })).at(-1)
    expect(await last(5)).toEqual([1])
    expect(await last(6)).toEqual([2])
  })

  it('deletes all tracks at a discontinuity', async () => {
    const element = await openElement(objectTracking)
    const stream = createStream(10)
    const next = async (discontinuity: boolean) =>
      (await element.process(stream.next([object(0.5, 0.5)], { discontinuity }))).objects!.map(
        o => o.track,
      )
    await next(false)
    expect(await next(false)).toEqual([1])
    expect(await next(true)).toEqual([])
    expect(await next(false)).toEqual([2])
  })

  it('retains the id of a walker when the stream time steps back, because the camera has corrected its clock', async () => {
    const element = await openElement(objectTracking)
    const stream = createStream(10)
    const ids: (number | undefined)[] = []
    for (let i = 0; i < 20; i++) {
      const frame = stream.next([object(0.1 + 0.03 * i, 0.5)])
      const pts = i < 10 ? frame.pts : frame.pts - 0.5 * TICKS_PER_SECOND
      const { objects } = await element.process({ ...frame, pts })
      ids.push(objects![0]?.track)
    }
    expect(new Set(ids.slice(2))).toEqual(new Set([1]))
  })

  it('retains the ids of two people who pass and occlude each other', async () => {
    const frames = Array.from({ length: 30 }, (_, i) => {
      const right = object(0.2 + 0.02 * i, 0.5)
      const left = object(0.8 - 0.02 * i, 0.51)
      return Math.abs(centerX(right) - centerX(left)) < 0.07 ? [left] : [right, left]
    })
    const tracked = await run(frames)
    const before = tracked[5]!.toSorted((a, b) => centerX(a) - centerX(b))
    const after = tracked.at(-1)!.toSorted((a, b) => centerX(a) - centerX(b))
    expect(before.map(({ track }) => track)).toHaveLength(2)
    expect(after.map(({ track }) => track)).toEqual(before.map(({ track }) => track).toReversed())
  })

  it('continues a track with low-score detections but does not start one that stands still', async () => {
    const lowScore = repeat(3, object(0.5, 0.5, { score: 0.15 }))
    expect(getIds(await run([...repeat(2, object(0.5, 0.5)), ...lowScore])).at(-1)).toEqual([1])
    expect(getIds(await run(lowScore)).flat()).toEqual([])
  })

  it('starts a track from low-score detections that move consistently, despite gaps and other classes', async () => {
    const moving = (steps: number) =>
      Array.from({ length: steps }, (_, i) => {
        const label = i % 3 === 0 ? 'truck' : 'car'
        return i % 5 === 4 ? [] : [object(0.2 + 0.02 * i, 0.5, { class: label, score: 0.2 })]
      })
    const numbers = (frames: DetectedObject[][]) =>
      run(frames).then(tracked => getIds(tracked).flat())
    expect(new Set(await numbers(moving(20)))).toEqual(new Set([1]))
    expect(await numbers(moving(5))).toEqual([])
  })

  it('continues a track with the low-score objects of the frame, and retains its class', async () => {
    const low = object(0.5, 0.5, { class: 'airplane', score: 0.7 })
    const frames = [
      ...repeat(2, object(0.5, 0.5)).map(objects => ({ objects })),
      { lowScoreObjects: [low] },
    ]
    const last = (await runOn(frames)).at(-1)!
    expect(last.map(({ track, class: label }) => [track, label])).toEqual([[1, 'person']])
  })

  it('never starts a track from low-score objects of the frame alone, even if they move', async () => {
    const moving = Array.from({ length: 30 }, (_, i) => ({
      lowScoreObjects: [object(0.1 + 0.02 * i, 0.5, { score: 0.8 })],
    }))
    expect(getIds(await runOn(moving)).flat()).toEqual([])
  })

  it('starts a track with the first reported detection of an object that has moved, and returns its whole trail', async () => {
    const at = (i: number, score: number) => [object(0.2 + 0.02 * i, 0.5, { score })]
    const unreported = Array.from({ length: 10 }, (_, i) => ({ lowScoreObjects: at(i, 0.2) }))
    const frames = await runOn([...unreported, { objects: at(10, 0.35) }])
    expect(getIds(frames.slice(0, 10)).flat()).toEqual([])
    expect(getIds(frames.slice(10))).toEqual([[1]])
    expect(frames.at(-1)![0]!.attributes?.trail).toHaveLength(11)
  })

  it('does not start a track from a low-score duplicate', async () => {
    const frames = Array.from({ length: 20 }, (_, i) => [
      object(0.2 + 0.02 * i, 0.5),
      object(0.21 + 0.02 * i, 0.5, { class: 'bicycle', score: 0.3 }),
    ])
    expect(new Set(getIds(await run(frames)).flat())).toEqual(new Set([1]))
  })

  it('retains a tentative track through low scores and a short gap', async () => {
    const scores = async (...all: number[]) =>
      getIds(await run(all.map(score => (score > 0 ? [object(0.5, 0.5, { score })] : [])))).flat()
    expect(await scores(0.5, 0.3, 0.3, 0.5)).toEqual([1])
    expect(await scores(0.5, 0.3, 0.3, 0.3)).toEqual([])
    expect(await scores(0.5, 0.3, 0, 0.5)).toEqual([1])
    expect(await scores(0.5, 0, 0, 0, 0.5)).toEqual([])
  })

  it('gives little weight to the box of a low-score detection', async () => {
    const aside = object(0.53, 0.5, { score: 0.2 })
    const last = (await run([...repeat(10, object(0.5, 0.5)), ...repeat(2, aside)])).at(-1)!
    expect(last.map(({ track }) => track)).toEqual([1])
    expect(centerX(last[0]!)).toBeLessThan(0.515)
  })

  it('retains the class of an object that is occasionally classified as another', async () => {
    const labels = ['car', 'car', 'car', 'truck', 'car', 'truck', 'truck', 'car']
    const frames = await run(
      labels.map((label, i) => [object(0.2 + 0.01 * i, 0.5, { class: label })]),
    )
    expect(frames.slice(1).map(objects => objects.map(o => [o.track, o.class]))).toEqual(
      Array.from({ length: 7 }, () => [[1, 'car']]),
    )
  })

  it('tracks overlapping objects of different classes separately', async () => {
    const rider = object(0.5, 0.5)
    const bicycle = object(0.5, 0.58, { class: 'bicycle' })
    const frames = await run([
      ...repeat(3, rider, bicycle),
      ...repeat(3, bicycle),
      ...repeat(3, rider, bicycle),
    ])
    const names = (objects: DetectedObject[]) => objects.map(o => `${o.class} ${o.track}`).sort()
    expect(names(frames.at(4)!)).toEqual(['bicycle 2'])
    expect(names(frames.at(-1)!)).toEqual(['bicycle 2', 'person 1'])
  })

  it('tracks a fast object from its first frames on', async () => {
    const frames = Array.from({ length: 8 }, (_, i) => [object(0.1 + 0.08 * i, 0.5)])
    expect(getIds(await run(frames)).slice(1)).toEqual(Array.from({ length: 7 }, () => [1]))
  })

  it('predicts positions between sampled frames', async () => {
    const truth = Array.from({ length: 31 }, (_, i) => 0.1 + 0.02 * i)
    const frames = await run(
      truth.map((x, i) => [object(i % 3 === 0 ? x : 0.9, 0.5)]),
      { sampling_frequency: 3 },
    )
    for (const [i, objects] of frames.entries()) {
      if (i < 12) continue
      expect(objects.map(({ track }) => track)).toEqual([1])
      expect(centerX(objects[0]!)).toBeCloseTo(truth[i]!, 2)
    }
  })

  it('predicts by stream time and tolerates dropped frames', async () => {
    const element = await openElement(objectTracking)
    const stream = createStream(10)
    let tracked: DetectedObject[] = []
    // The object moves 0.2 per second and is sampled at irregular times.
    for (const skip of [0, 0, 0, 0, 0, 0, 4, 0, 2, 7, 0, 1, 5]) {
      const frame = stream.next([], { skip })
      const x = 0.1 + (0.2 * frame.pts) / 90_000
      tracked = (await element.process({ ...frame, objects: [object(x, 0.5)] })).objects!
    }
    expect(tracked.map(({ track }) => track)).toEqual([1])
  })

  it.each([
    { max_age: 0 },
    { history: -1 },
    { sampling_frequency: 0 },
    { max_age: 1.5 },
    { min_hits: 3 },
  ])('rejects %o', args => {
    expect(objectTracking.args.safeParse(args).success).toBe(false)
  })
})
