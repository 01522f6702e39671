import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { capabilities } from '@eyrie/contract/plugin'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { writeOwnModel } from '../../../test/fixtures/engine/mean-colour-model.ts'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import {
  createPlan,
  startTestRuntime,
  type TestRuntime,
} from '../../../test/fixtures/engine/test-runtime.ts'
import { getNumberBox, writeNumberedVideo } from '../../../test/fixtures/media/numbered-video.ts'
import { makeVideo } from '../../../test/fixtures/media/test-video.ts'
import {
  type MediaProcess,
  startMediaProcess,
} from '../../../test/fixtures/processes/media-process.ts'

const FRAMES = 300
const every = Array.from({ length: FRAMES }, (_, i) => i + 1)

let folder: string
let video: string
let media: MediaProcess
let test: TestRuntime

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-runtime-'))
  video = join(folder, 'numbered.mp4')
  await writeNumberedVideo(video, FRAMES)
  const plugins = join(folder, 'plugins')
  const counting =
    'let frames = 0; return { process: () => ({ counters: { seen: { frames: ++frames } } }) }'
  writePlugin(plugins, { name: 'count', open: counting })
  writePlugin(plugins, {
    name: 'slow',
    element: { params_schema: { type: 'object' } },
    open: 'return { process: () => new Promise(done => setTimeout(done, setup.args.ms, {})) }',
  })
  writePlugin(plugins, {
    name: 'late',
    open: 'return new Promise(done => setTimeout(done, 2000, { process: () => ({}) }))',
  })
  for (const [name, runs, fault] of [
    ['throwing', 'inline', `throw new Error('boom')`],
    ['babbling', 'inline', `return { objects: ['nonsense'] }`],
    ['ending', 'worker', 'process.exit(1)'],
    ['hanging', 'worker', 'for (;;);'],
  ] as const) {
    const open = `return { process: (frame: any) => { if (frame.n === 50) { ${fault} } return {} } }`
    writePlugin(plugins, { name, open, element: { runs } })
  }
  writePlugin(plugins, {
    name: 'unserializable',
    open: `return { process: ({ n }: any) => ({ events: n === 50 ? [{ type: 'big', size: 1n }] : [] }) }`,
  })
  // Inside of the white or black square that shows whether the number is odd.
  const lowestBit = { x: 8 / 640, y: 8 / 360, w: 16 / 640, h: 16 / 360 }
  const own = writeOwnModel(join(plugins, 'colour'), 'means', { width: 16, height: 16 })
  writePlugin(plugins, {
    name: 'colour',
    element: {
      runs: 'worker',
      capabilities: capabilities.parse({
        inference: { own: [own], width: 640 },
        counters: ['red'],
      }),
    },
    open: `return { process: async (frame: any, picture: any) => {
      if (picture) throw new Error('it receives pictures')
      const { outputs } = await setup.infer('means', { region: ${JSON.stringify(lowestBit)} })
      return { counters: { mean: { red: outputs.means.data[0] } } }
    } }`,
  })
  media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
})
afterAll(async () => {
  await media.stop()
  rmSync(folder, { recursive: true })
})

beforeEach(async () => {
  test = await startTestRuntime({
    mediaUrl: media.url,
    plugins: join(folder, 'plugins'),
    models: join(folder, 'models'),
    ring: media.environment.ring,
  })
})
afterEach(() => test.stop())

const count = { name: 'count' }
/** Spends `ms` on each frame. */
const slow = (ms: number) => ({ name: 'slow', args: { ms } })

describe('file with pacing all', () => {
  it('is analysed to the last frame, each with its own picture, and then stopped', async () => {
    const ended: number[] = []
    test.runtime.onSourceEnded(source => ended.push(source))
    await test.runtime.apply(createPlan({ url: video }, [{ name: 'read-number' }]))
    expect(await test.waitForState(1, 'stopped')).toBe('the file has ended')
    const frames = test.getPublished('frame', 1)
    expect(frames.map(({ data }) => data.n)).toEqual(every)
    expect(frames.map(({ data }) => data.objects[0]?.bbox)).toEqual(
      every.map(n => getNumberBox(n - 1)),
    )
    expect(new Set(frames.map(({ pts }, i) => (pts ?? 0) - i * 3600)).size).toBe(1)
    expect(ended).toEqual([1])
  })

  it('is not replayed when it is planned again, unless `ended` is reset', async () => {
    const plan = createPlan({ url: video }, [count])
    await test.runtime.apply(plan)
    await test.waitForState(1, 'stopped')
    await test.runtime.apply(createPlan({ url: video, ended: true }, [count]))
    expect(test.runtime.pipelineStatistics(1).status).toBe('stopped')
    await test.runtime.apply(plan)
    await vi.waitFor(() => expect(test.getAnalysedFrames(1)).toEqual([...every, ...every]), {
      timeout: 60_000,
    })
  })

  it('is not played until it has a channel', async () => {
    const plan = createPlan({ url: video }, [count])
    await test.runtime.apply({ ...plan, channels: [] })
    await vi.waitUntil(() => test.runtime.streamServer())
    expect(test.runtime.sourceStatus(1)).toBeUndefined()
    await test.runtime.apply(plan)
    await test.waitForState(1, 'stopped')
    expect(test.getAnalysedFrames(1)).toEqual(every)
  })

  it('runs models of plugins on each frame, without pictures for their elements', async () => {
    await test.runtime.apply(createPlan({ url: video }, [{ name: 'colour' }]))
    await test.waitForState(1, 'stopped')
    expect(test.getAnalysedFrames(1)).toEqual(every)
    const means = test.getPublished('frame', 1).map(({ data }) => data.counters.mean?.red)
    expect(means.map(mean => mean! > 0.5)).toEqual(every.map(n => (n - 1) % 2 === 1))
  })

  it('delivers frames to elements that read no picture', async () => {
    await test.runtime.apply(createPlan({ url: video }, [count]))
    await test.waitForState(1, 'stopped')
    expect(test.getAnalysedFrames(1)).toEqual(every)
    expect(test.getPublished('count', 1).at(-1)?.data).toEqual({ seen: { frames: FRAMES } })
  })
})

describe('change of one channel', () => {
  it('neither drops frames nor resets state of other channels', async () => {
    const edited = (step: number) =>
      createPlan(
        { url: video },
        [count, slow(20)],
        [{ name: 'image-resize', args: { scale: 1 / step } }, count],
      )
    await test.runtime.apply(edited(1))
    let step = 1
    test.onDraft = draft => {
      const hasBegun =
        draft.kind === 'frame' && draft.channel === 2 && draft.data.counters.seen?.frames === 1
      if (hasBegun && step < 6) void test.runtime.apply(edited(++step))
    }
    await test.waitForState(1, 'stopped')
    expect(step).toBeGreaterThan(2)
    expect(test.getAnalysedFrames(1)).toEqual(every)
    expect(test.getPublished('count', 1).at(-1)?.data).toEqual({ seen: { frames: FRAMES } })
    const seen = test.getPublished('frame', 2).map(({ data }) => data.counters.seen?.frames)
    expect(seen.filter(frames => frames === 1).length).toBeGreaterThan(1)
  })

  it.each([
    ['adds', [count, slow(1)]],
    ['removes', []],
    ['exchanges', [{ name: 'image-resize', args: { scale: 0.5 } }]],
  ])(
    'that %s elements is followed by the state with which counters start at zero',
    async (_, others) => {
      await test.runtime.apply(createPlan({ url: video }, [count, slow(1)]))
      await vi.waitUntil(() => test.getAnalysedFrames(1).length >= 40, { timeout: 60_000 })
      await test.runtime.apply(createPlan({ url: video }, [count, ...others]))
      await test.waitForState(1, 'stopped')
      const published = [...test.getPublished('count', 1), ...test.getPublished('state', 1)]
      published.sort((a, b) => test.drafts.indexOf(a) - test.drafts.indexOf(b))
      const restart = published.findLastIndex(
        ({ kind, data }) => kind === 'count' && data.seen?.frames === 1,
      )
      expect(restart).toBeGreaterThan(40)
      expect(published[restart - 1]).toMatchObject({ kind: 'state', data: { state: 'starting' } })
    },
  )

  it('does not replace a channel if the changed config does not affect its source', async () => {
    const line = (name: string) => ({
      lines: [
        {
          name,
          coords: [
            { x: 0, y: 0.5 },
            { x: 1, y: 0.5 },
          ],
        },
      ],
    })
    const lines = (config: Record<string, unknown>) =>
      createPlan({ url: video }, [count, { name: 'line-crossing', config }])
    await test.runtime.apply(lines({ '1': line('door') }))
    await vi.waitUntil(() => test.getAnalysedFrames(1).length >= 40, { timeout: 60_000 })
    await test.runtime.apply(lines({ '1,2': line('door'), '3': line('gate') }))
    await test.waitForState(1, 'stopped')
    expect(test.getAnalysedFrames(1)).toEqual(every)
    expect(test.runtime.channelMetadata(1)).toMatchObject({
      'line-crossing': { lines: [{ name: 'door' }] },
    })
  })

  it('does not replace a channel when only its sinks change', async () => {
    const plan = createPlan({ url: video }, [count])
    await test.runtime.apply(plan)
    await vi.waitUntil(() => test.getAnalysedFrames(1).length >= 40, { timeout: 60_000 })
    await test.runtime.apply({
      ...plan,
      pipelines: plan.pipelines.map(pipeline => ({ ...pipeline, sinks: [1] })),
      sinks: [{ id: 1, type: 'inf', address: 'inf://nowhere', filter: [] }],
    })
    await test.waitForState(1, 'stopped')
    expect(test.getAnalysedFrames(1)).toEqual(every)
  })
})

describe('plugin element', () => {
  it.each([
    ['throwing', expect.stringMatching(/^throwing: boom \(element\.ts:2:\d+\)$/)],
    ['babbling', 'babbling: /result/objects/0: Invalid input: expected object, received string'],
    ['ending', 'ending: its thread has ended'],
    ['hanging', 'hanging: no answer within 1 s'],
  ])(
    'that is %s fails with its reason and is restarted without affecting other channels',
    { tags: 'long' },
    async (name, reason) => {
      await test.runtime.apply(createPlan({ url: video }, [count, slow(10)], [count, { name }]))
      await test.waitForState(1, 'stopped')
      expect(test.getAnalysedFrames(1)).toEqual(every)
      const states = test.getPublished('state', 2).map(({ data }) => data)
      expect(states).toContainEqual({ state: 'failed', reason })
      expect(states.at(-1)?.state).toBe('stopped')
      expect(test.getAnalysedFrames(2)).not.toContain(50)
      expect(test.getAnalysedFrames(2).at(-1)).toBe(FRAMES)
    },
  )

  it('loses a frame for which it returns data that cannot be serialized', async () => {
    await test.runtime.apply(createPlan({ url: video }, [{ name: 'unserializable' }]))
    await test.waitForState(1, 'stopped')
    expect(test.getAnalysedFrames(1)).toEqual(every.filter(n => n !== 50))
  })

  it.each([
    [{ name: 'nothing' }, 'nothing: no installed plugin contains this element: install the plugin'],
    [{ name: 'image-resize', args: { scale: -1 } }, 'image-resize: /args/scale must be > 0'],
    [{ name: 'infer', args: { model: 'cat' } }, 'infer: there is no model cat'],
  ])('that cannot be opened is reported as failed: %j', async (element, reason) => {
    await test.runtime.apply(createPlan({ url: video }, [element], [count]))
    expect(await test.waitForState(1, 'failed')).toContain(reason)
    await test.waitForState(2, 'stopped')
    expect(test.getAnalysedFrames(2)).toEqual(every)
  })
})

describe('live source', () => {
  it('delivers the newest frame to a slow element and reports dropped frames', async () => {
    await test.runtime.apply(
      createPlan({ url: video, type: 'inf', pacing: 'realtime' }, [slow(200)]),
    )
    expect(await test.waitForState(1, 'degraded')).toContain('frames are dropped')
    await vi.waitUntil(() => test.getAnalysedFrames(1).length >= 8, { timeout: 60_000 })
    const frames = test.getAnalysedFrames(1)
    const gaps = frames.slice(1).map((n, i) => n - frames[i]!)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1)
    expect(Math.max(...gaps)).toBeGreaterThan(1)
    const { data } = test.getPublished('stats', 1).at(-1)!
    expect(data.dropped).toBeGreaterThan(0)
    expect(data.dropped_for).toEqual({ lacking: data.dropped, failed: 0 })
    expect(data.latency_p95).toBeGreaterThanOrEqual(data.latency)
    expect(data.fps).toBeLessThan(15)
  })

  it('is decoded without interruption while its channel is replaced, even far from a keyframe', {
    tags: 'long',
  }, async () => {
    const url = join(folder, 'few-keyframes.mp4')
    makeVideo(url, { frames: 600, fps: 30, keyframeInterval: 600 })
    const source = { url, type: 'inf', pacing: 'realtime' } as const
    await test.runtime.apply(createPlan(source, [slow(1)]))
    const first = await vi.waitUntil(() => test.getPublished('frame', 1)[0], { timeout: 60_000 })
    await test.runtime.apply(createPlan(source, [count]))
    const isNew = ({ data }: typeof first) => data.counters.seen !== undefined
    const next = await vi.waitUntil(() => test.getPublished('frame', 1).find(isNew), {
      timeout: 60_000,
    })
    // The only keyframe is the first frame of the clip: a decoder that starts again shows nothing
    // until the next loop.
    const loopTicks = 20 * 90_000
    expect(next.pts! - first.pts!).toBeLessThan(loopTicks)
  })

  it('is analysed by the old channel until its replacement is running', async () => {
    const looped = (open: string, id: number) => {
      const plan = createPlan({ url: video, type: 'inf', pacing: 'realtime' }, [{ name: open }])
      const [channel, pipeline] = [plan.channels[0]!, plan.pipelines[0]!]
      return {
        ...plan,
        pipelines: [{ ...pipeline, id }],
        channels: [{ ...channel, id, pipeline: id }],
      }
    }
    await test.runtime.apply(looped('count', 1))
    await test.waitForState(1, 'running')
    await test.runtime.apply(looped('late', 2))
    const handedOverAt = test.getAnalysedFrames(1).length
    await test.waitForState(2, 'running')
    await vi.waitUntil(() => test.getAnalysedFrames(2).length >= 5, { timeout: 60_000 })
    expect(test.getAnalysedFrames(1).length).toBeGreaterThan(handedOverAt)
    // Opening the replacement takes as long as 50 frames.
    expect(test.getAnalysedFrames(2)[0]! - test.getAnalysedFrames(1).at(-1)!).toBeLessThan(25)
    expect(test.runtime.channelStatistics(1)).toMatchObject({ fps: 0, latency: 0 })
  })

  it('is reported as failed when media cannot open it', async () => {
    await test.runtime.apply(createPlan({ url: join(folder, 'missing.mp4'), type: 'inf' }, [count]))
    expect(await test.waitForState(1, 'failed')).toContain('missing.mp4 does not exist')
    expect(test.runtime.sourceStatus(1)?.state).toBe('failed')
  })

  it('continues after media is killed and restarted', { tags: 'long' }, async () => {
    const mortal = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
    await test.stop()
    test = await startTestRuntime({
      mediaUrl: mortal.url,
      plugins: join(folder, 'plugins'),
      models: join(folder, 'models'),
      ring: mortal.environment.ring,
    })
    await test.runtime.apply(createPlan({ url: video, type: 'inf', pacing: 'realtime' }, [count]))
    await test.waitForState(1, 'running')
    const before = test.runtime.streamServer()
    expect(before).toMatchObject({ hostname: '127.0.0.1', port: mortal.environment.ports.media })

    await mortal.stop()
    expect(await test.waitForState(1, 'degraded')).toContain(mortal.url)
    expect(test.runtime.streamServer()).toBeUndefined()

    const again = await startMediaProcess({
      EYRIE_MEDIA_ROOTS: folder,
      EYRIE_MEDIA_PORT: String(mortal.environment.ports.media),
    })
    await test.waitForState(1, 'running')
    const epochs = () => new Set(test.getPublished('frame', 1).map(({ epoch }) => epoch))
    await vi.waitUntil(() => epochs().size === 2, { timeout: 60_000 })
    expect(epochs().has(before!.epoch)).toBe(true)
    await again.stop()
  })
})

it('reports a pipeline without a source as idle', async () => {
  const plan = createPlan({ url: video }, [count])
  await test.runtime.apply({ ...plan, channels: [] })
  expect(test.runtime.pipelineStatistics(1)).toEqual({
    status: 'idle',
    fps: 0,
    latency: 0,
    reason: 'no source is connected',
  })
})
