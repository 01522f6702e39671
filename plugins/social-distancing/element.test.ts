import type { BBox, Counters, DetectedObject, EventData } from '@eyrie/element'
import { createStream, openElement } from '@eyrie/element/testing'
import { describe, expect, test } from 'vitest'
import plugin from './element.ts'

const socialDistancing = plugin['social-distancing']

/** Somebody 1.7 m tall in a picture 6.8 m high and 12.1 m wide, whose feet are `metres` from the left edge. */
const person = (metres: number, track?: number, foot = 0.75): DetectedObject => {
  const bbox: BBox = { x: (metres / 6.8) * (9 / 16) - 0.02, y: foot - 0.25, w: 0.04, h: 0.25 }
  return { class: 'person', score: 0.9, bbox, ...(track !== undefined && { track }) }
}

const apart = (metres: number) => [person(2, 1), person(2 + metres, 2)]

/** Runs an element over frames, ten a second. */
async function run(
  frames: DetectedObject[][],
  { args = {}, config }: { args?: object; config?: object } = {},
) {
  const element = await openElement(socialDistancing, { args, config })
  const stream = createStream(10)
  const events: EventData[] = []
  let objects: DetectedObject[] = []
  let counters: Counters = {}
  for (const seen of frames) {
    const result = await element.process(stream.next(seen))
    expect(socialDistancing.output!.safeParse(result).error).toBeUndefined()
    events.push(...(result.events ?? []))
    objects = result.objects ?? []
    counters = result.counters ?? {}
  }
  return { events, objects, counter: counters['social-distancing']! }
}

const stay = (frames: number, ...objects: DetectedObject[]) => Array.from({ length: frames }, () => objects)

test('who comes nearer than the threshold violates, and is told so with the other and the distance', async () => {
  const { events, objects, counter } = await run([apart(3), apart(1.5)])
  expect(events).toEqual([
    {
      type: 'violation',
      track: 1,
      with: 2,
      class: 'person',
      distance: 1.5,
      bbox: expect.objectContaining({ y: 0.5, h: 0.25 }),
    },
  ])
  expect(counter).toEqual({ violation: 2, non_violation: 0 })
  expect(objects.map(({ attributes }) => attributes)).toEqual([
    { violation: true, distance: 1.5 },
    { violation: true, distance: 1.5 },
  ])
})

test('the event shows both', async () => {
  const [a, b] = apart(1.5)
  const { x, w } = (await run([[a!, b!]])).events[0]!.bbox!
  expect(x).toBeCloseTo(a!.bbox.x, 9)
  expect(x + w).toBeCloseTo(b!.bbox.x + b!.bbox.w, 9)
})

test.each([
  [1.99, {}, 1],
  [2.01, {}, 0],
  [2.01, { threshold: 3 }, 1],
  [0.6, { threshold: 0.5 }, 0],
])('at %d metres with %o there are %d violations', async (metres, args, violations) => {
  expect((await run([apart(metres)], { args })).events).toHaveLength(violations)
})

test('of three in a row the middle one violates with both, and everybody counts once', async () => {
  const three = [person(1, 1), person(2.5, 2), person(4, 3)]
  const { events, objects, counter } = await run([three])
  expect(events.map(event => [event.track, event.with])).toEqual([
    [1, 2],
    [2, 3],
  ])
  expect(counter.violation).toBe(3)
  expect(objects.map(({ attributes }) => attributes?.distance)).toEqual([1.5, 1.5, 1.5])
})

test('somebody alone keeps any distance', async () => {
  const { objects, counter, events } = await run([[person(2, 1)]])
  expect(objects).toEqual([{ ...person(2, 1), attributes: { violation: false } }])
  expect([counter, events]).toEqual([{ violation: 0, non_violation: 0 }, []])
})

describe('one violation', () => {
  test('is what trembles at the threshold', async () => {
    const trembling = Array.from({ length: 100 }, (_, i) => apart(i % 2 === 0 ? 1.9 : 2.15))
    expect((await run(trembling)).events).toHaveLength(1)
  })

  test('goes on while one is out of sight for a moment', async () => {
    const hidden = stay(8, person(2, 1))
    expect((await run([apart(1), ...hidden, apart(1)])).events).toHaveLength(1)
  })

  test('has ended after a second at a distance; another may begin, and counts nobody again', async () => {
    const away = stay(12, ...apart(4))
    const { objects } = await run([apart(1), ...away])
    expect(objects[0]!.attributes).toMatchObject({ violation: false, distance: 4 })
    const { events, counter } = await run([apart(1), ...away, apart(1)])
    expect(events).toHaveLength(2)
    expect(counter.violation).toBe(2)
  })
})

describe('tracks that ended without violating', () => {
  test('are counted ten seconds after they were last seen', async () => {
    const gone = (frames: number) => run([...stay(5, ...apart(4)), ...stay(frames)])
    expect((await gone(100)).counter).toEqual({ violation: 0, non_violation: 0 })
    expect((await gone(101)).counter).toEqual({ violation: 0, non_violation: 2 })
  })

  test('are not those that violated', async () => {
    expect((await run([apart(1), ...stay(110)])).counter).toEqual({ violation: 2, non_violation: 0 })
  })

  test('are those that an interruption of the stream has ended', async () => {
    const element = await openElement(socialDistancing)
    const stream = createStream(10)
    await element.process(stream.next(apart(4)))
    const { counters } = await element.process(stream.next(apart(4), { discontinuity: true }))
    expect(counters).toEqual({ 'social-distancing': { violation: 0, non_violation: 2 } })
  })
})

test('people without a track are told their distance and are not counted', async () => {
  const { objects, counter, events } = await run([[person(2), person(3)]])
  expect(objects.map(({ attributes }) => attributes)).toEqual([
    { violation: true, distance: 1 },
    { violation: true, distance: 1 },
  ])
  expect([counter, events]).toEqual([{ violation: 0, non_violation: 0 }, []])
})

test('only people keep a distance; attributes that were there stay', async () => {
  const dog: DetectedObject = { ...person(2.1, 9), class: 'dog' }
  const { objects } = await run([[{ ...person(2, 1), attributes: { trail: [] } }, dog]])
  expect(objects).toEqual([{ ...person(2, 1), attributes: { trail: [], violation: false } }, dog])
})

test('the shape of the picture counts', async () => {
  const distance = async (size: { width: number; height: number }) => {
    const element = await openElement(socialDistancing)
    const { objects } = await element.process(createStream(10, size).next(apart(2.4)))
    return objects![0]!.attributes!.distance
  }
  expect(await distance({ width: 1920, height: 1080 })).toBe(2.4)
  expect(await distance({ width: 960, height: 1080 })).toBe(1.2)
})

describe('with a calibration', () => {
  /** A floor that a camera 3 m above it looks at along: what is z metres away and x to the right is seen there. */
  const seenAt = (x: number, z: number) => ({ x: 0.5 + (0.5 * x) / z, y: (2 * 1.5) / z })
  const floor = [
    { x: -2, y: 4 },
    { x: 2, y: 4 },
    { x: 4, y: 20 },
    { x: -4, y: 20 },
  ]
  const calibration = { image: floor.map(({ x, y }) => seenAt(x, y)), world: floor }
  const standing = (x: number, z: number, track: number): DetectedObject => {
    const feet = seenAt(x, z)
    return {
      class: 'person',
      score: 0.9,
      track,
      bbox: { x: feet.x - 0.1 / z, y: feet.y - 1 / z, w: 0.2 / z, h: 1 / z },
    }
  }

  test.each([
    ['beside each other, near', [0, 5], [1.5, 5], 1.5],
    ['beside each other, far', [0, 18], [1.5, 18], 1.5],
    ['one behind the other', [1, 10], [1, 16], 6],
    ['across', [-1, 8], [2, 12], 5],
  ] as const)('people are as far apart as they are: %s', async (_, [ax, az], [bx, bz], metres) => {
    const { objects } = await run([[standing(ax, az, 1), standing(bx, bz, 2)]], { config: { calibration } })
    expect(objects[0]!.attributes!.distance).toBeCloseTo(metres, 2)
  })

  test('who stands beyond the horizon is near nobody', async () => {
    const bird = { ...standing(0, 6, 2), bbox: { x: 0.5, y: -0.4, w: 0.02, h: 0.1 } }
    const { objects, events } = await run([[standing(0, 6, 1), bird]], { config: { calibration } })
    expect(objects.map(({ attributes }) => attributes)).toEqual([{ violation: false }, { violation: false }])
    expect(events).toEqual([])
  })

  test('its four points are shown with the channel', async () => {
    const element = await openElement(socialDistancing, { config: { calibration } })
    expect(element.metadata).toEqual({
      threshold: 2,
      calibration: { name: 'calibration', coords: calibration.image, world: calibration.world },
    })
    expect((await openElement(socialDistancing)).metadata).toEqual({ threshold: 2 })
  })

  test.each([
    ['three points', { image: calibration.image.slice(1) }],
    ['corners crosswise', { image: [0, 2, 1, 3].map(i => calibration.image[i]) }],
    ['one place four times', { world: [0, 0, 0, 0].map(i => floor[i]) }],
    ['a point outside the picture', { image: calibration.image.map(({ x, y }) => ({ x: x + 1, y })) }],
    ['no world', { world: undefined }],
  ])('refuses %s', (_, wrong) => {
    const config = { calibration: { ...calibration, ...wrong } }
    expect(socialDistancing.config!.safeParse(config).success).toBe(false)
  })
})

test.each([{ threshold: 0 }, { threshold: -1 }, { threshold: '2' }, { metres: 2 }])('refuses %o', args => {
  expect(socialDistancing.args.safeParse(args).success).toBe(false)
})
