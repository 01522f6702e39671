import type { BBox, Counters, DetectedObject, EventData } from '@eyrie/element'
import { createStream, openElement } from '@eyrie/element/testing'
import { describe, expect, it } from 'vitest'
import plugin from './element.ts'

const socialDistancing = plugin['social-distancing']

/** A person 1.7 m tall, `metres` from the left edge of a picture that covers 12.1 × 6.8 m. */
const person = (metres: number, track?: number, foot = 0.75): DetectedObject => {
  const bbox: BBox = { x: (metres / 6.8) * (9 / 16) - 0.02, y: foot - 0.25, w: 0.04, h: 0.25 }
  return { class: 'person', score: 0.9, bbox, ...(track !== undefined && { track }) }
}

const apart = (metres: number) => [person(2, 1), person(2 + metres, 2)]

/** Runs the element over frames, by default at 10 fps. */
async function run(
  frames: DetectedObject[][],
  { args = {}, config, fps = 10 }: { args?: object; config?: object; fps?: number } = {},
) {
  const element = await openElement(socialDistancing, { args, config })
  const stream = createStream(fps)
  const events: EventData[] = []
  let objects: DetectedObject[] = []
  let counters: Counters = {}
  for (const detections of frames) {
    const result = await element.process(stream.next(detections))
    expect(socialDistancing.output!.safeParse(result).error).toBeUndefined()
    events.push(...(result.events ?? []))
    objects = result.objects ?? []
    counters = result.counters ?? {}
  }
  return { events, objects, counter: counters['social-distancing']! }
}

const repeat = (frames: number, ...objects: DetectedObject[]) =>
  Array.from({ length: frames }, () => objects)

describe('social-distancing', () => {
  it('reports two people closer than the threshold with their distance', async () => {
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

  it('encloses both people in the box of the event', async () => {
    const [a, b] = apart(1.5)
    const { x, w } = (await run([[a!, b!]])).events[0]!.bbox!
    expect(x).toBeCloseTo(a!.bbox.x, 9)
    expect(x + w).toBeCloseTo(b!.bbox.x + b!.bbox.w, 9)
  })

  it.each([
    [1.99, {}, 1],
    [2.01, {}, 0],
    [2.01, { threshold: 3 }, 1],
    [0.6, { threshold: 0.5 }, 0],
  ])('at %d metres with %o, reports %d violations', async (metres, args, violations) => {
    expect((await run([apart(metres)], { args })).events).toHaveLength(violations)
  })

  it('reports each violating pair and counts each person once', async () => {
    const three = [person(1, 1), person(2.5, 2), person(4, 3)]
    const { events, objects, counter } = await run([three])
    expect(events.map(event => [event.track, event.with])).toEqual([
      [1, 2],
      [2, 3],
    ])
    expect(counter.violation).toBe(3)
    expect(objects.map(({ attributes }) => attributes?.distance)).toEqual([1.5, 1.5, 1.5])
  })

  it('reports no violation for a single person', async () => {
    const { objects, counter, events } = await run([[person(2, 1)]])
    expect(objects).toEqual([{ ...person(2, 1), attributes: { violation: false } }])
    expect([counter, events]).toEqual([{ violation: 0, non_violation: 0 }, []])
  })

  describe('an ongoing violation', () => {
    it('is not repeated by jitter around the threshold', async () => {
      const jittering = Array.from({ length: 100 }, (_, i) => apart(i % 2 === 0 ? 1.9 : 2.15))
      expect((await run(jittering)).events).toHaveLength(1)
    })

    it('continues while a person is briefly lost', async () => {
      const hidden = repeat(8, person(2, 1))
      expect((await run([apart(1), ...hidden, apart(1)])).events).toHaveLength(1)
    })

    it('is not repeated by frames that are more than a second apart', async () => {
      expect((await run(repeat(5, ...apart(1)), { fps: 0.9 })).events).toHaveLength(1)
      const between = [apart(1), apart(4), apart(4), apart(1)]
      expect((await run(between, { fps: 0.9 })).events).toHaveLength(2)
    })

    it('ends after a second apart, and a new one does not count the same people again', async () => {
      const farApart = repeat(12, ...apart(4))
      const { objects } = await run([apart(1), ...farApart])
      expect(objects[0]!.attributes).toMatchObject({ violation: false, distance: 4 })
      const { events, counter } = await run([apart(1), ...farApart, apart(1)])
      expect(events).toHaveLength(2)
      expect(counter.violation).toBe(2)
    })
  })

  describe('a person who is hidden for longer than ten seconds, and keeps the track', () => {
    const visible = (metres: number) => repeat(3, ...apart(metres))

    it('is not counted again in slow video, in which trackers recover objects for 30 frames', async () => {
      const close = [...visible(1), ...repeat(20), ...visible(1), ...repeat(40)]
      expect((await run(close, { fps: 1 })).counter).toEqual({ violation: 2, non_violation: 0 })
      const far = [...visible(4), ...repeat(20), ...visible(4), ...repeat(40)]
      expect((await run(far, { fps: 1 })).counter).toEqual({ violation: 0, non_violation: 2 })
      const both = [...visible(4), ...repeat(20), ...visible(1), ...repeat(40)]
      expect((await run(both, { fps: 1 })).counter).toEqual({ violation: 2, non_violation: 0 })
    })

    it('is not counted again if the tracker recovers objects for longer than usual', async () => {
      const close = [...visible(1), ...repeat(300), ...visible(1), ...repeat(110)]
      expect((await run(close)).counter).toEqual({ violation: 2, non_violation: 0 })
      const far = [...visible(4), ...repeat(300), ...visible(4), ...repeat(110)]
      expect((await run(far)).counter).toEqual({ violation: 0, non_violation: 2 })
    })

    it('is another person after a discontinuity', async () => {
      const element = await openElement(socialDistancing)
      const stream = createStream(10)
      await element.process(stream.next(apart(1)))
      const { counters } = await element.process(stream.next(apart(1), { discontinuity: true }))
      expect(counters).toEqual({ 'social-distancing': { violation: 4, non_violation: 0 } })
    })
  })

  describe('non_violation', () => {
    it('counts tracks ten seconds after they were last seen', async () => {
      const leave = (frames: number) => run([...repeat(5, ...apart(4)), ...repeat(frames)])
      expect((await leave(100)).counter).toEqual({ violation: 0, non_violation: 0 })
      expect((await leave(101)).counter).toEqual({ violation: 0, non_violation: 2 })
    })

    it('does not count tracks that are visible in frames which are far apart', async () => {
      const { counter } = await run(repeat(5, ...apart(4)), { fps: 0.05 })
      expect(counter).toEqual({ violation: 0, non_violation: 0 })
    })

    it('does not count tracks that have violated the distance', async () => {
      expect((await run([apart(1), ...repeat(110)])).counter).toEqual({
        violation: 2,
        non_violation: 0,
      })
    })

    it('counts tracks that end with a discontinuity', async () => {
      const element = await openElement(socialDistancing)
      const stream = createStream(10)
      await element.process(stream.next(apart(4)))
      const { counters } = await element.process(stream.next(apart(4), { discontinuity: true }))
      expect(counters).toEqual({ 'social-distancing': { violation: 0, non_violation: 2 } })
    })
  })

  it('adds the distance to people without a track but does not count them', async () => {
    const { objects, counter, events } = await run([[person(2), person(3)]])
    expect(objects.map(({ attributes }) => attributes)).toEqual([
      { violation: true, distance: 1 },
      { violation: true, distance: 1 },
    ])
    expect([counter, events]).toEqual([{ violation: 0, non_violation: 0 }, []])
  })

  it('ignores other classes and retains existing attributes', async () => {
    const dog: DetectedObject = { ...person(2.1, 9), class: 'dog' }
    const { objects } = await run([[{ ...person(2, 1), attributes: { trail: [] } }, dog]])
    expect(objects).toEqual([{ ...person(2, 1), attributes: { trail: [], violation: false } }, dog])
  })

  it('accounts for the aspect ratio of the picture', async () => {
    const distance = async (size: { width: number; height: number }) => {
      const element = await openElement(socialDistancing)
      const { objects } = await element.process(createStream(10, size).next(apart(2.4)))
      return objects![0]!.attributes!.distance
    }
    expect(await distance({ width: 1920, height: 1080 })).toBe(2.4)
    expect(await distance({ width: 960, height: 1080 })).toBe(1.2)
  })

  describe('with a calibration', () => {
    /**
     * Projects a floor point, x metres to the right and z metres away, into a horizontal camera
     * 3 m above the floor.
     */
    const project = (x: number, z: number) => ({ x: 0.5 + (0.5 * x) / z, y: (2 * 1.5) / z })
    const floor = [
      { x: -2, y: 4 },
      { x: 2, y: 4 },
      { x: 4, y: 20 },
      { x: -4, y: 20 },
    ]
    const calibration = { image: floor.map(({ x, y }) => project(x, y)), world: floor }
    const personAt = (x: number, z: number, track: number): DetectedObject => {
      const feet = project(x, z)
      return {
        class: 'person',
        score: 0.9,
        track,
        bbox: { x: feet.x - 0.1 / z, y: feet.y - 1 / z, w: 0.2 / z, h: 1 / z },
      }
    }

    it.each([
      ['side by side, near', [0, 5], [1.5, 5], 1.5],
      ['side by side, far', [0, 18], [1.5, 18], 1.5],
      ['one behind the other', [1, 10], [1, 16], 6],
      ['diagonally', [-1, 8], [2, 12], 5],
    ] as const)('measures distances on the floor: %s', async (_, [ax, az], [bx, bz], metres) => {
      const { objects } = await run([[personAt(ax, az, 1), personAt(bx, bz, 2)]], {
        config: { calibration },
      })
      expect(objects[0]!.attributes!.distance).toBeCloseTo(metres, 2)
    })

    it('ignores people above the horizon', async () => {
      const bird = { ...personAt(0, 6, 2), bbox: { x: 0.5, y: -0.4, w: 0.02, h: 0.1 } }
      const { objects, events } = await run([[personAt(0, 6, 1), bird]], {
        config: { calibration },
      })
      expect(objects.map(({ attributes }) => attributes)).toEqual([
        { violation: false },
        { violation: false },
      ])
      expect(events).toEqual([])
    })

    it('exposes the calibration as metadata', async () => {
      const element = await openElement(socialDistancing, { config: { calibration } })
      expect(element.metadata).toEqual({
        threshold: 2,
        calibration: { name: 'calibration', coords: calibration.image, world: calibration.world },
      })
      expect((await openElement(socialDistancing)).metadata).toEqual({ threshold: 2 })
    })

    it.each([
      ['three points', { image: calibration.image.slice(1) }],
      ['crossing sides', { image: [0, 2, 1, 3].map(i => calibration.image[i]) }],
      ['four identical points', { world: [0, 0, 0, 0].map(i => floor[i]) }],
      [
        'a point outside the picture',
        { image: calibration.image.map(({ x, y }) => ({ x: x + 1, y })) },
      ],
      ['no world', { world: undefined }],
    ])('rejects %s', (_, wrong) => {
      const config = { calibration: { ...calibration, ...wrong } }
      expect(socialDistancing.config!.safeParse(config).success).toBe(false)
    })
  })

  it.each([{ threshold: 0 }, { threshold: -1 }, { threshold: '2' }, { metres: 2 }])(
    'rejects %o',
    args => {
      expect(socialDistancing.args.safeParse(args).success).toBe(false)
    },
  )
})
