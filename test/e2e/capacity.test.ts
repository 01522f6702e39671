// @module-tag long

import { join } from 'node:path'
import type { Client } from '@eyrie/client'
import { capacityShortage, EyrieError, type PipelineStatistics } from '@eyrie/contract'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { makeVideo } from '../fixtures/media/test-video.ts'
import { parseExposition } from '../fixtures/network/prometheus.ts'
import {
  type EngineProcessOptions,
  startEngineProcess,
} from '../fixtures/processes/engine-process.ts'
import { startMediaProcess } from '../fixtures/processes/media-process.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const detector = { name: 'infer', args: { model: 'scene-detector' } }
const elements = [detector, { name: 'object-tracking' }]

/** Starts media with a looped clip. `start` starts an engine on the same data folder. */
async function setUp(fps: number) {
  const folder = createTemporaryFolder()
  makeVideo(join(folder, 'clip.mp4'), { frames: 100, fps, width: 640, height: 360 })
  const media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
  onTestFinished(media.stop)
  const start = async (engine: NonNullable<EngineProcessOptions['settings']>['engine']) => {
    const started = await startEngineProcess({
      data: join(folder, 'data'),
      media,
      settings: { engine },
      variables: { EYRIE_MEDIA_ROOTS: folder },
    })
    onTestFinished(started.stop)
    return started
  }
  return { start, source: { type: 'inf', address: join(folder, 'clip.mp4') } as const }
}

async function sumMetric(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return [...parseExposition(text).get(name)!.samples.values()].reduce(
    (sum, value) => sum + value,
    0,
  )
}

/** Expects the call to be rejected and returns the shortage that the error reports. */
async function expectShortage(call: Promise<unknown>) {
  const error = await call.then(
    () => expect.unreachable('the pipeline was admitted'),
    error => error,
  )
  expect(error).toBeInstanceOf(EyrieError)
  expect(error).toMatchObject({ code: 'capacity', status: 409 })
  return capacityShortage.parse(error.value)
}

describe('admission', () => {
  it('measures channels, rejects pipelines that do not fit, persists costs, and can be overridden', async () => {
    const { start, source } = await setUp(10)
    const first = await start({ capacity: { cores: 0.5 } })
    const one = { sources: [source], elements }
    const { pipelines } = await first.api.deploy([one])
    await vi.waitUntil(
      async () =>
        (await sumMetric(first.url, 'eyrie_load_predicted_cores')) > 0 &&
        (await sumMetric(first.url, 'eyrie_engine_frames_analysed_total')) >= 80,
      { timeout: 120_000, interval: 500 },
    )
    const alone = await sumMetric(first.url, 'eyrie_load_predicted_cores')

    const many = Array.from({ length: 200 }, () => one)
    const missing = await expectShortage(first.api.deploy(many))
    expect(missing).toMatchObject({ available: 0.5, unknown: [] })
    for (const part of [missing.decoding, missing.inference, missing.elements]) {
      expect(part).toBeGreaterThan(0)
    }
    // Inference counts 200 times, decoding once.
    expect(missing.needed).toBeGreaterThan(20 * alone)
    expect(missing.inference).toBeGreaterThan(missing.decoding)
    expect(await first.api.pipeline.list()).toEqual(pipelines)
    await first.stop()

    const second = await start({ capacity: { cores: alone / 2 } })
    expect(await second.api.pipeline.list()).toEqual(pipelines)
    const [running] = await second.api.source.list()
    const another = { elements, sources: [running!.id] }
    const needed = (await expectShortage(second.api.pipeline.create(another))).needed
    expect(needed).toBeGreaterThan(alone)
    const { id } = await second.api.pipeline.create(another, { override: 'capacity' })
    await vi.waitUntil(async () => (await second.api.pipelineStatistics(id)).fps > 0, {
      timeout: 60_000,
      interval: 500,
    })
  }, 300_000)
})

describe('priority of pipelines', () => {
  it('decides which pipeline gets an overloaded inference worker, and the other one reports why it waits', async () => {
    const { start, source } = await setUp(30)
    const { api } = await start({ inference_workers: 1 })
    // Far too large for one worker at 30 frames per second.
    const large = [{ name: 'image-resize', args: { width: 1600, height: 896 } }, detector]
    const { id } = await api.source.create(source)
    const low = await api.pipeline.create({ elements: large, priority: 2, sources: [id] })
    const high = await api.pipeline.create({ elements: large, priority: 8, sources: [id] })

    const givesWay =
      /the machine is too slow for all of its channels, and pipelines of higher priority are served first$/
    await waitForStatistics(
      api,
      low.id,
      ({ status, reason }) => status === 'degraded' && givesWay.test(reason ?? ''),
    )
    await waitForStatistics(api, low.id, ({ fps }) => fps === 0)
    expect((await api.pipelineStatistics(high.id)).fps).toBeGreaterThan(0)

    // A change of priority takes effect without a restart of the channels.
    await api.pipeline.modify(low.id, { priority: 9 })
    await waitForStatistics(api, high.id, ({ reason }) => givesWay.test(reason ?? ''))
    await waitForStatistics(
      api,
      low.id,
      ({ fps, reason }) => fps > 0 && !givesWay.test(reason ?? ''),
    )
  }, 300_000)
})

async function waitForStatistics(
  api: Client,
  id: number,
  matches: (statistics: PipelineStatistics) => boolean,
): Promise<void> {
  let last: PipelineStatistics | undefined
  const poll = async () => {
    last = await api.pipelineStatistics(id)
    return matches(last)
  }
  await vi.waitUntil(poll, { timeout: 90_000, interval: 500 }).catch(error => {
    throw new Error(`pipeline ${id} is ${JSON.stringify(last)}`, { cause: error })
  })
}
