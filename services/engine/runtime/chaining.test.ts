// @module-tag long

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { startTestRuntime, type TestRuntime } from '../../../test/fixtures/engine/test-runtime.ts'
import { writeNumberedVideo } from '../../../test/fixtures/media/numbered-video.ts'
import { subscribe } from '../../../test/fixtures/network/zeromq-subscriber.ts'
import {
  type MediaProcess,
  startMediaProcess,
} from '../../../test/fixtures/processes/media-process.ts'
import type { Plan, SourcePlan } from '../plan/plan.ts'

const PATIENCE = { timeout: 60_000, interval: 50 }
const LIMIT_MS = 150_000

let folder: string
let video: string
let media: MediaProcess
let test: TestRuntime
/** Media retains sources after an engine disconnects: each test uses its own name. */
let name: string
let tests = 0

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-chaining-'))
  video = join(folder, 'numbered.mp4')
  await writeNumberedVideo(video, 200)
  media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
})
afterAll(async () => {
  await media.stop()
  rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  name = `numbers-${++tests}`
  test = await startTestRuntime({
    mediaUrl: media.url,
    plugins: join(folder, 'plugins'),
    models: join(folder, 'models'),
    ring: media.environment.ring,
  })
})
afterEach(() => test.stop())

const source = (id: number, type: SourcePlan['type'], url: string): SourcePlan => ({
  ...{
    id,
    type,
    address: { url },
    decoder: 'gst_h264',
    rate: undefined,
    pacing: 'realtime',
    ended: false,
  },
})

/**
 * Channel and pipeline n read source n: the first detects numbers and sends them, the others
 * receive its results.
 */
const chained = (payload: string, ...later: string[]): Plan => {
  const elements = ['read-number', ...later].map(element => [{ name: element }])
  return {
    sources: elements.map((_, i) =>
      i === 0 ? source(1, 'inf', video) : source(i + 1, 'zmqinternal', `inproc://${name}`),
    ),
    pipelines: elements.map((each, i) => ({
      id: i + 1,
      elements: each,
      priority: 5,
      sinks: i === 0 ? [1] : [],
    })),
    sinks: [
      { id: 1, type: 'zmqinternal', address: `inproc://${name}?payload=${payload}`, filter: [] },
    ],
    channels: elements.map((_, i) => ({ id: i + 1, source: i + 1, pipeline: i + 1 })),
  }
}

/** Position of the detected number, by capture time. */
const places = (channel: number) =>
  new Map(
    test.getPublished('frame', channel).map(({ time, data }) => [time, data.objects[0]?.bbox]),
  )

/** Pairs of the same frame in a later channel and in the first. */
function common(channel: number) {
  const first = places(1)
  return [...places(channel)]
    .filter(([time]) => first.has(time))
    .map(([time, place]) => [place, first.get(time)])
}

/** Waits until the reason of the second pipeline contains `words`. */
const untilReason = (words: string) =>
  vi.waitUntil(() => test.runtime.pipelineStatistics(2).reason?.includes(words), PATIENCE)

describe('pipeline fed by another pipeline', { timeout: LIMIT_MS }, () => {
  it.each(['jpeg', 'raw'])('receives the same pictures (%s)', async payload => {
    await test.runtime.apply(chained(payload, 'read-number'))
    await vi.waitUntil(() => common(2).length >= 15, PATIENCE)
    for (const [seen, sent] of common(2)) expect(seen).toEqual(sent)
    expect(test.runtime.sourceStatus(2)).toMatchObject({
      state: 'running',
      width: 640,
      height: 360,
    })
  })

  it('receives the objects even without pictures', async () => {
    await test.runtime.apply(chained('none', 'object-tracking'))
    await vi.waitUntil(() => common(2).length >= 15, PATIENCE)
    for (const [seen, sent] of common(2)) {
      if (seen) expect(seen).toMatchObject({ x: expect.closeTo(sent!.x, 1) })
    }
    const tracked = test
      .getPublished('frame', 2)
      .flatMap(({ data }) => data.objects.map(({ track }) => track))
    expect(tracked.some(track => track !== undefined)).toBe(true)
  })

  it('fails with an explanation if it needs pictures and none are sent', async () => {
    await test.runtime.apply(chained('none', 'read-number'))
    await untilReason('sends no pictures: set payload=jpeg on its sink')
    expect(test.runtime.pipelineStatistics(2).status).toBe('failed')
    await test.runtime.apply(chained('jpeg', 'read-number'))
    await vi.waitUntil(() => common(2).length >= 10, PATIENCE)
  })

  it('starts before its sender and outlives it', async () => {
    const plan = chained('jpeg', 'read-number')
    const without = {
      ...plan,
      pipelines: plan.pipelines.map(each => ({ ...each, sinks: [] })),
      sinks: [],
    }
    await test.runtime.apply(without)
    await untilReason('has sent nothing yet')
    expect(test.runtime.pipelineStatistics(2).status).toBe('starting')
    await test.runtime.apply(plan)
    await vi.waitUntil(() => common(2).length >= 5, PATIENCE)
    await test.runtime.apply(without)
    await untilReason('has sent nothing for 5 s')
    expect(test.runtime.pipelineStatistics(2).status).toBe('degraded')
    const before = common(2).length
    await test.runtime.apply(plan)
    await vi.waitUntil(() => common(2).length >= before + 5, PATIENCE)
  })
})

it('connecting a sink with pictures does not make the channels of the source drop frames', {
  timeout: LIMIT_MS,
}, async () => {
  const plan = chained('jpeg')
  const [pipeline] = plan.pipelines
  const beside = { ...pipeline!, id: 2, sinks: [] }
  const quiet: Plan = {
    ...plan,
    pipelines: [{ ...pipeline!, sinks: [] }, beside],
    channels: [...plan.channels, { id: 2, source: 1, pipeline: 2 }],
    sources: plan.sources.map(each => ({ ...each, pacing: 'all' })),
    sinks: [],
  }
  const loud: Plan = { ...quiet, pipelines: [pipeline!, beside], sinks: plan.sinks }
  await test.runtime.apply(quiet)
  for (let round = 1; round <= 4; round++) {
    const frames = test.getAnalysedFrames(1).length + 60
    await vi.waitUntil(() => test.getAnalysedFrames(1).length > frames, PATIENCE)
    await test.runtime.apply(round % 2 ? loud : quiet)
  }
  for (const channel of [1, 2]) {
    const frames = test.getAnalysedFrames(channel)
    expect(frames).toEqual(frames.map((_, i) => frames[0]! + i))
  }
})

it('every frame of a file with pacing all is sent with its own picture', async () => {
  const endpoint = `ipc://${join(folder, 'whole.sock')}`
  const plan = chained('none')
  const bound: Plan = {
    ...plan,
    sources: [{ ...source(1, 'file', video), pacing: 'all' }],
    sinks: [{ id: 1, type: 'zmq', address: `${endpoint}?payload=jpeg&width=320`, filter: [] }],
  }
  const received = subscribe(endpoint)
  await test.runtime.apply({ ...bound, channels: [] })
  await test.runtime.apply(bound)
  await test.waitForState(1, 'stopped')
  await vi.waitUntil(() => received.at(-1)?.header.n === 200, PATIENCE)
  // Sent messages are numbered. A subscriber may miss the first ones, and more on a busy machine.
  const unnumbered = received.filter(({ header }) => header.n !== header.seq)
  expect(unnumbered).toEqual([])
  expect(
    received.every(({ header, payload }) => header.format === 'JPEG' && payload.length > 500),
  ).toBe(true)
})
