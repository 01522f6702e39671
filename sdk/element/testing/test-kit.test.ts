import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { assembleTruth } from '../../../scene/truth/derive-truth.ts'
import type { TruthFrame } from '../../../scene/truth/scene-truth.ts'
import { FileSink } from '../../../services/engine/sinks/file-sink.ts'
import { makeVideo } from '../../../test/fixtures/media/test-video.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { defineElement, type Frame, type Picture, z } from '../index.ts'
import {
  createMemoryStorage,
  createPicture,
  createStream,
  findProblems,
  formatRun,
  openElement,
  readRecording,
  readSceneTruth,
  readVideo,
  runElement,
} from './test-kit.ts'

const args = z.strictObject({})
const counting = defineElement({
  args,
  open: () => {
    let total = 0
    return {
      process: ({ objects }) => {
        total += objects.length
        return {
          counters: { seen: { total } },
          events: objects.length > 1 ? [{ type: 'many', share: objects.length / 3 }] : [],
        }
      },
    }
  },
})
const person = { class: 'person', score: 0.9, bbox: { x: 0.1, y: 0.1, w: 0.2, h: 0.4 } }

describe('an element in the test kit', () => {
  it('has a clock that follows the stream, metrics, a log and storage', async () => {
    const element = await openElement(
      defineElement({
        args,
        open: async ({ clock, metrics, log, storage }) => {
          const restored = new TextDecoder().decode(await storage!.read('start'))
          return {
            process: ({ n }) => {
              metrics.set('seconds', clock.seconds)
              log.info({ restored }, 'processed frame')
              return { events: [{ type: 'time', at: clock.time, n }] }
            },
          }
        },
      }),
      { storage: createMemoryStorage({ start: 'noon' }) },
    )
    const { events } = await runElement(element, [createStream(10).next([], { skip: 4 })])
    expect(events).toEqual([{ type: 'time', at: 500, n: 5, seconds: 0.5 }])
    expect(element.readMetrics()).toEqual({ values: { seconds: 0.5 }, totals: {} })
    expect(element.log).toEqual([
      { level: 'info', fields: { restored: 'noon' }, message: 'processed frame' },
    ])
  })
})

describe('the state of an element', () => {
  it('is created again after an interruption of the stream', async () => {
    const element = await openElement(
      defineElement({
        args: z.strictObject({ start: z.int().default(5) }),
        state: ({ args }) => ({ n: args.start }),
        process: (_, { state }) => ({ counters: { frames: { n: ++state.n } } }),
      }),
    )
    const stream = createStream(10)
    const frames = [stream.next(), stream.next(), stream.next([], { discontinuity: true })]
    const { results } = await runElement(element, frames)
    expect(results.map(({ result }) => result.counters)).toEqual(
      [6, 7, 6].map(n => ({ frames: { n } })),
    )
  })
})

describe('a run', () => {
  it('is formatted with rounded numbers and sorted fields', async () => {
    const stream = createStream(10)
    const frames = [1, 2, 1].map(count => stream.next(Array(count).fill(person)))
    const run = await runElement(await openElement(counting), frames)
    expect(formatRun(run)).toBe('0.20 s many {"share":0.6667}\ncounter seen {"total":4}\n')
    expect(findProblems(run)).toEqual([])
  })

  it('has the problems of results that the engine would reject', async () => {
    const run = async (result: object) => {
      const element = await openElement(
        defineElement({ args, open: () => ({ process: () => result }) }),
      )
      return findProblems(await runElement(element, [createStream(10).next()]))
    }
    expect(await run({ objects: [{ ...person, score: 2 }] })).toEqual([
      expect.stringContaining('frame 1: /objects/0/score'),
    ])
    expect(await run({ boxes: [] })).toEqual(['frame 1: /boxes: unknown field'])
    expect(await run({ events: [{ type: 'x', map: new Map() }] })).toEqual([
      'frame 1: the result contains values that JSON cannot express',
    ])
  })
})

describe('a recording', () => {
  it('provides the frames of a channel that a file sink has written', async () => {
    const path = join(createTemporaryFolder(), 'results.jsonl')
    const sink = new FileSink({ path, maxBytes: 1 << 20, keep: 1 })
    for (const channel of [3, 4]) {
      for (const n of [1, 2]) {
        sink.write({
          ...{
            channel,
            source: 1,
            pipeline: 1,
            n,
            pts: n * 9000,
            time: '2030-01-01T00:00:00.500Z',
          },
          ...{
            objects: [{ ...person, track: channel }],
            counters: { door: { up: n } },
            events: [],
          },
        })
      }
    }
    await sink.close()

    const frames = await readRecording(path, { channel: 4, width: 640, height: 480 })
    expect(frames.map(({ n, pts }) => [n, pts])).toEqual([
      [1, 9000],
      [2, 18_000],
    ])
    expect(frames[0]).toMatchObject({
      time: Date.parse('2030-01-01T00:00:00.500Z') * 1000,
      objects: [{ track: 4 }],
      counters: { door: { up: 1 } },
      width: 640,
    })
    expect((await readRecording(path))[0]!.objects[0]!.track).toBe(3)
  })

  it('that is damaged is rejected with the line', async () => {
    const path = join(createTemporaryFolder(), 'results.jsonl')
    writeFileSync(path, '\n{"channel":3}\n')
    await expect(readRecording(path)).rejects.toThrow(`${path}:2: /n: is required`)
  })
})

describe('the truth of a scene', () => {
  it('provides visible objects with their tracks, and the crossings', async () => {
    const line = {
      name: 'door',
      coords: [
        { x: 0, y: 0.5 },
        { x: 1, y: 0.5 },
      ],
    }
    const frames = [0.3, 0.4, 0.6, 0.7].map(
      (y, n): TruthFrame => ({
        n,
        objects: [1, 2].map(track => ({
          ...{ track, class: 'person', visibility: track === 1 ? 1 : 0.1 },
          ...{
            bbox: { x: 0.4, y: y - 0.175, w: 0.1, h: 0.2 },
            foot: { x: 0.45, y },
            ground: { x: 0, y: 0 },
          },
        })),
      }),
    )
    const scene = { seed: 1, width: 640, height: 360, fps: 10 }
    const truth = assembleTruth(scene, frames, { lines: [line], zones: [] })
    const path = join(createTemporaryFolder(), 'scene.truth.json')
    writeFileSync(path, JSON.stringify(truth))

    const read = await readSceneTruth(path)
    expect(read.frames.map(({ objects }) => objects.map(({ track }) => track))).toEqual(
      Array(4).fill([1]),
    )
    expect(read.frames[3]).toMatchObject({ n: 3, pts: 27_000, width: 640, height: 360 })
    expect(read.crossings.filter(({ track }) => track === 1)).toMatchObject([
      { line: 'door', frame: 2 },
    ])
  })
})

async function readAll(...video: Parameters<typeof readVideo>) {
  const inputs: { frame: Frame; picture: Picture }[] = []
  for await (const input of readVideo(...video)) inputs.push(input)
  return inputs
}

describe('a video', () => {
  it('provides its frames with pictures of the requested size', async () => {
    const path = join(createTemporaryFolder(), 'ball.mp4')
    makeVideo(path, { frames: 6, fps: 10, width: 64, height: 48 })
    const inputs = await readAll(path, {
      view: { format: 'GRAY8', width: 32, height: 24 },
      fps: 10,
    })
    expect(inputs.map(({ frame }) => frame.pts)).toEqual([
      9000, 18_000, 27_000, 36_000, 45_000, 54_000,
    ])
    const { picture } = inputs[0]!
    expect([picture.width, picture.height, picture.data.length]).toEqual([32, 24, 768])
    // A white ball on black.
    expect(Math.max(...picture.data)).toBeGreaterThan(200)
    expect(Math.min(...picture.data)).toBeLessThan(50)
  })

  it('that cannot be decoded is rejected with the reason', async () => {
    const decoded = readAll('/nowhere.mp4', { view: { format: 'GRAY8', width: 32, height: 24 } })
    await expect(decoded).rejects.toThrow(/\/nowhere\.mp4 cannot be decoded: ./)
  })
})

describe('a picture', () => {
  it('has the bytes of one of media, also in I420 with odd sides', () => {
    const sizes = [
      createPicture({ format: 'RGB', width: 63, height: 47 }),
      createPicture({ format: 'I420', width: 64, height: 48 }),
      createPicture({ format: 'I420', width: 63, height: 47 }),
    ].map(({ data }) => data.length)
    expect(sizes).toEqual([3 * 63 * 47, 1.5 * 64 * 48, 1.5 * 64 * 48])
  })
})
