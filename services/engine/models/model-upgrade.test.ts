// @module-tag long

import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@eyrie/client'
import type { ModelShadowReport, OutputMessage } from '@eyrie/contract'
import { addModel } from '@eyrie/model-store'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createBrightCellDetector } from '../../../test/fixtures/engine/detector-models.ts'
import { followOutput } from '../../../test/fixtures/engine/followed-output.ts'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { writeNumberedVideo } from '../../../test/fixtures/media/numbered-video.ts'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import {
  type EngineProcess,
  startEngineProcess,
} from '../../../test/fixtures/processes/engine-process.ts'
import {
  type MediaProcess,
  startMediaProcess,
} from '../../../test/fixtures/processes/media-process.ts'

/** An upgrade of a model while its pipeline analyses a video. The tests build on each other. */

/** Enough for a minute, since the tests take long on a busy machine. */
const FRAMES = 1500
const LIMIT_MS = 150_000
const size = { width: 320, height: 320 }

const folder = mkdtempSync(join(tmpdir(), 'eyrie-models-'))
const data = join(folder, 'data')
const root = join(data, 'models')
let media: MediaProcess
let engine: EngineProcess
let api: Client
let pipeline: number
let channel: number
let messages: readonly OutputMessage[] = []

const until = (condition: () => boolean | Promise<boolean>) =>
  vi.waitUntil(condition, { timeout: LIMIT_MS, interval: 50 })
const run = (line: string) =>
  runEyrieCommand(line.split(' '), { data, environment: { EYRIE_ENGINE_URL: engine.url } })

const add = (name: string, label: string, model: Uint8Array) =>
  addModel(root, { name, head: 'yolox', labels: [label], license: 'MIT', model })

/**
 * Adds a model that can be loaded, but not run on the pictures of a 16:9 camera,
 * although its card says so.
 */
async function addBroken(name: string): Promise<void> {
  const { card } = await add(name, 'bright', createBrightCellDetector(size))
  const file = createBrightCellDetector(size)
  const input = { ...card.input, name: 'images', dtype: 'float32' }
  const sha256 = createHash('sha256').update(file).digest('hex')
  mkdirSync(join(root, name), { recursive: true })
  writeFileSync(join(root, name, 'model.onnx'), file)
  writeFileSync(join(root, name, 'model.json'), JSON.stringify({ ...card, input, sha256 }))
}

const listFrames = () =>
  messages.flatMap(message =>
    message.kind === 'frame' && message.channel === channel ? [message.data] : [],
  )
const listClasses = () =>
  new Set(listFrames().flatMap(({ objects }) => objects.map(({ class: name }) => name)))

/** Waits until `count` more frames are published. */
async function awaitFrames(count: number): Promise<void> {
  const before = listFrames().length
  await until(() => listFrames().length >= before + count)
}

async function runInShadow(candidate: string): Promise<ModelShadowReport> {
  const started = await api.model.startShadow('door', { candidate, seconds: 600 })
  expect(started).toMatchObject({ model: 'door', candidate, state: 'running', verdict: 'unknown' })
  await until(async () => {
    const { channels, verdict } = await api.model.getShadow('door')
    return verdict === 'worse' || channels.some(({ frames }) => frames > 5)
  })
  return api.model.endShadow('door')
}

beforeAll(async () => {
  const video = join(folder, 'numbered.mp4')
  await writeNumberedVideo(video, FRAMES)
  const paced = 'return { process: () => new Promise(done => setTimeout(done, 50, {})) }'
  writePlugin(join(folder, 'plugins'), { name: 'paced', open: paced })
  await add('door', 'bright', createBrightCellDetector(size))
  await add('door-2', 'shiny', createBrightCellDetector({ ...size, shapes: 'nodes' }))
  await add('door-wide', 'bright', createBrightCellDetector({ width: 640, height: 640 }))
  await addBroken('door-3')
  media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
  engine = await startEngineProcess({
    data,
    media,
    plugins: join(folder, 'plugins'),
    settings: { engine: { pacing: 'all', inference_workers: 2 } },
    variables: { EYRIE_MEDIA_ROOTS: folder },
  })
  api = engine.api

  messages = await followOutput(api, ['frame'])
  const sources = [{ type: 'file' as const, address: video, decoder: 'gst_h264' as const }]
  const infer = { name: 'infer', args: { model: 'door', score_threshold: 0.8 } }
  // The video waits for the first pipeline, also while the second one fails.
  const { pipelines } = await api.deploy([
    { sources, sinks: [], elements: [{ name: 'paced' }] },
    { sources, sinks: [], elements: [infer] },
  ])
  pipeline = pipelines[1]!.id
  const { channels = [] } = await api.getExports()
  channel = channels.find(channel => channel.pipeline === pipeline)!.id
  await awaitFrames(5)
}, LIMIT_MS)

afterAll(async () => {
  await engine.stop()
  await media.stop()
  rmSync(folder, { recursive: true })
})

it(
  'a model in shadow may read larger pictures than the active one',
  async () => {
    const { channels } = await runInShadow('door-wide')
    expect(channels[0]).toMatchObject({ candidate: { failures: 0 } })
    expect(channels[0]!.candidate.objects.bright).toBeGreaterThan(
      channels[0]!.active.objects.bright!,
    )
  },
  LIMIT_MS,
)

it(
  'a model runs in shadow without any effect, and the report says how its objects and its cost differ',
  async () => {
    const report = await runInShadow('door-2')
    expect(report).toMatchObject({
      active: 'door',
      candidate: 'door-2',
      state: 'ended',
      verdict: 'different',
    })
    const [comparison, ...others] = report.channels
    expect(others).toEqual([])
    expect(comparison).toMatchObject({
      channel,
      budget_ms: 40,
      active: { failures: 0, objects: { bright: expect.any(Number) } },
      candidate: { failures: 0, cpu_ms: { p50: expect.any(Number), p99: expect.any(Number) } },
      agreement: { both: 0, active_only: 0, candidate_only: 0 },
    })
    expect(comparison!.agreement.other_class).toBeGreaterThan(0)
    expect(comparison!.candidate.objects.shiny).toBe(comparison!.active.objects.bright)
    expect(report.findings).toContain('door-2 does not know the classes bright')
    expect(listClasses()).toEqual(new Set(['bright']))
    expect(await api.model.get('door')).toEqual({
      name: 'door',
      active: 'door',
      pipelines: [pipeline],
    })
    expect((await run('model shadow door')).out).toContain('door-2 has other results')
  },
  LIMIT_MS,
)

it(
  'it is accepted without losing a frame, and pipelines still name the model that they named',
  async () => {
    expect(await api.model.acceptShadow('door', {})).toMatchObject({
      name: 'door',
      active: 'door-2',
    })
    await until(() => listClasses().has('shiny'))
    const frames = listFrames().map(({ n }) => n)
    expect(frames).toEqual(Array.from(frames, (_, index) => index + 1))
    expect((await api.pipeline.get(pipeline)).elements[0]?.args).toMatchObject({ model: 'door' })
  },
  LIMIT_MS,
)

it(
  'models that read pictures of another size are switched to and back without losing a frame',
  async () => {
    const countObjects = () =>
      Math.max(
        ...listFrames()
          .slice(-3)
          .map(({ objects }) => objects.length),
      )
    const before = countObjects()
    expect((await run('model use door door-wide')).out).toBe('active door-wide for door\n')
    await until(() => countObjects() > 2 * before)
    await api.model.use('door', { active: 'door-2' })
    await until(() =>
      listFrames()
        .at(-1)!
        .objects.every(({ class: name }) => name === 'shiny'),
    )
    await awaitFrames(5)
    const frames = listFrames().map(({ n }) => n)
    expect(frames).toEqual(Array.from(frames, (_, index) => index + 1))
  },
  LIMIT_MS,
)

it(
  'a model that fails is worse in shadow, and the engine switches back from it',
  async () => {
    const report = await runInShadow('door-3')
    expect(report.verdict).toBe('worse')
    expect(report.findings.join()).toMatch(/channel \d+: door-3 has failed .*door-2 never/)
    const refusal = await api.model.acceptShadow('door', {}).catch(error => error)
    expect(refusal).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('did worse'),
    })

    await api.model.use('door', { active: 'door-3' })
    await until(async () => (await api.model.get('door')).active === 'door-2')
    await awaitFrames(5)
    const switches = await api.model.switches('door')
    expect(switches.map(({ from, to }) => `${from} → ${to}`)).toEqual([
      'door → door-2',
      'door-2 → door-wide',
      'door-wide → door-2',
      'door-2 → door-3',
      'door-3 → door-2',
    ])
    const { reason, client } = switches.at(-1)!
    expect(reason).toMatch(
      /^door-3 has failed \d+ times within \d+ s on channel \d+ \(.*door-2 had not failed/,
    )
    expect(client).toBeUndefined()
    expect((await run('model switches door')).out).toContain('door-3 has failed')
    const health = (await (await fetch(`${engine.url}/health`)).json()) as { alarms: string[] }
    expect(health.alarms.join()).toContain('model door was switched back from door-3 to door-2')
  },
  LIMIT_MS,
)

it(
  'a model that is missing or cannot be loaded is not selected',
  async () => {
    const missing = await api.model.use('door', { active: 'window' }).catch(error => error)
    expect(missing).toMatchObject({
      code: 'id',
      message: expect.stringContaining('there is no model window'),
    })
    writeFileSync(join(root, 'door-3', 'model.onnx'), 'damaged')
    const damaged = await api.model.use('door', { active: 'door-3' }).catch(error => error)
    expect(damaged).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('model door-3 cannot be used'),
    })
    expect(await api.model.get('door')).toMatchObject({ active: 'door-2' })
  },
  LIMIT_MS,
)
