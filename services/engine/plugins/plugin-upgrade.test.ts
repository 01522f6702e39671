// @module-tag long

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@eyrie/client'
import type { OutputMessage, ShadowReport } from '@eyrie/contract'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { packPlugin } from '../../../sdk/cli/plugin/plugin-archive.ts'
import { followOutput } from '../../../test/fixtures/engine/followed-output.ts'
import { type TestPlugin, writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
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

/** An upgrade of a plugin while its pipeline analyses a video. The tests build on each other. */

const FRAMES = 900
/** On a busy machine, a version in shadow takes minutes until it has started. */
const LIMIT_MS = 600_000

const folder = mkdtempSync(join(tmpdir(), 'eyrie-upgrade-'))
/** While this file exists, the video is slow. */
const slowMark = join(folder, 'slow')
let media: MediaProcess
let engine: EngineProcess
let api: Client
let pipeline: number
let channel: number
let messages: readonly OutputMessage[] = []

const until = (condition: () => boolean | Promise<boolean>) =>
  vi.waitUntil(condition, { timeout: LIMIT_MS, interval: 50 })
async function upload(plugin: TestPlugin): Promise<void> {
  writePlugin(join(folder, 'uploads'), plugin)
  const { archive } = await packPlugin(join(folder, 'uploads/probe'))
  await api.plugin.upload(archive)
}
const run = async (line: string) =>
  runEyrieCommand(line.split(' '), {
    data: join(folder, 'data'),
    environment: { EYRIE_ENGINE_URL: engine.url },
  })

const withArgument = (name: string) => ({
  params_schema: {
    type: 'object',
    properties: { [name]: { type: 'integer' } },
    required: [name],
    additionalProperties: false,
  },
})

/** Reports an event for every frame whose number is a multiple of the argument. */
const reporting = (by: string, argument: string) => `
  let total = 0
  return {
    process: (frame: any) => ({
      counters: { probe: { total: ++total } },
      events: frame.n % setup.args.${argument} === 0 ? [{ type: 'multiple', by: '${by}' }] : [],
    }),
  }`

/** Numbers of the frames that the channel has published. */
const listFrames = () =>
  messages.flatMap(message =>
    message.kind === 'frame' && message.channel === channel ? [message.data.n] : [],
  )
const listReporters = () =>
  new Set(messages.flatMap(message => (message.kind === 'event' ? [message.data.by] : [])))
const getArgs = async () => (await api.pipeline.get(pipeline)).elements[0]?.args

/** Waits until `count` more frames are published. */
async function awaitFrames(count: number): Promise<void> {
  const before = listFrames().length
  await until(() => listFrames().length >= before + count)
}

async function runInShadow(version: string): Promise<ShadowReport> {
  const started = await api.plugin.startShadow('probe', { version, seconds: 600 })
  expect(started).toMatchObject({ state: 'running', version })
  // The video must not end before the version has processed a few frames.
  writeFileSync(slowMark, '')
  await until(async () => {
    const { channels, verdict } = await api.plugin.getShadow('probe')
    return verdict === 'worse' || channels.some(({ frames }) => frames >= 3)
  })
  rmSync(slowMark)
  return api.plugin.endShadow('probe')
}

beforeAll(async () => {
  const video = join(folder, 'numbered.mp4')
  await writeNumberedVideo(video, FRAMES)
  const delay = `existsSync(${JSON.stringify(slowMark)}) ? 400 : 40`
  const paced = `return { process: () => new Promise(done => setTimeout(done, ${delay}, {})) }`
  const module = `import { existsSync } from 'node:fs'`
  writePlugin(join(folder, 'plugins'), { name: 'paced', module, open: paced })
  media = await startMediaProcess({ EYRIE_MEDIA_ROOTS: folder })
  engine = await startEngineProcess({
    data: join(folder, 'data'),
    media,
    plugins: join(folder, 'plugins'),
    settings: { engine: { pacing: 'all' } },
    variables: { EYRIE_MEDIA_ROOTS: folder },
  })
  api = engine.api
  await upload({
    version: '1.0.0',
    element: withArgument('every'),
    open: reporting('one', 'every'),
  })

  messages = await followOutput(api, ['frame', 'event'])
  const source = { type: 'file' as const, address: video, decoder: 'gst_h264' as const }
  const sources = [source]
  // The video waits for the first pipeline, also while the second one fails.
  const { pipelines } = await api.deploy([
    { sources, sinks: [], elements: [{ name: 'paced' }] },
    { sources, sinks: [], elements: [{ name: 'probe', args: { every: 10 } }] },
  ])
  pipeline = pipelines[1]!.id
  const { channels = [] } = await api.getExports()
  channel = channels.find(channel => channel.pipeline === pipeline)!.id
  await awaitFrames(10)
}, LIMIT_MS)

afterAll(async () => {
  await engine.stop()
  await media.stop()
  rmSync(folder, { recursive: true })
})

it(
  'a version runs in shadow without any effect, and the report says how it differs',
  async () => {
    const migrate =
      'migrate: ({ every }: any, from: string) => ({ each: every, from: Number(from[0]) }),'
    const element = {
      params_schema: {
        type: 'object',
        properties: { each: { type: 'integer' }, from: { type: 'integer' } },
        required: ['each'],
        additionalProperties: false,
      },
    }
    // Reports each frame: a busy machine skips frames in shadow, and the rest may contain as many
    // multiples of 5 as of 10.
    const open = reporting('two', 'each').replace('% setup.args.each', '% 1')
    await upload({ version: '1.1.0', element, members: migrate, open })
    const report = await runInShadow('1.1.0')
    expect(report).toMatchObject({
      active: '1.0.0',
      version: '1.1.0',
      state: 'ended',
      verdict: 'different',
    })
    const [comparison] = report.channels
    expect(comparison).toMatchObject({
      channel,
      element: 'probe',
      shadow: { failures: 0 },
      active: { failures: 0 },
    })
    expect(comparison!.shadow.events.multiple).toBeGreaterThan(
      comparison!.active.events.multiple ?? 0,
    )
    expect(report.findings.join()).toMatch(
      /probe on channel \d+: \d+ events multiple instead of \d+/,
    )
    // Nothing of it was published, and nothing was changed.
    expect(listReporters()).toEqual(new Set(['one']))
    expect(await getArgs()).toEqual({ every: 10 })
    expect(await api.plugin.get('probe')).toMatchObject({ active: '1.0.0' })
    expect((await run('plugin shadow probe')).out).toContain('probe 1.1.0 has other results')
  },
  LIMIT_MS,
)

it(
  'it is accepted with migrated arguments, and no frame is lost',
  async () => {
    expect(await api.plugin.acceptShadow('probe', {})).toMatchObject({ active: '1.1.0' })
    expect(await getArgs()).toEqual({ each: 10, from: 1 })
    await until(() => listReporters().has('two'))
    const frames = listFrames()
    expect(frames).toEqual(Array.from(frames, (_, index) => index + 1))
  },
  LIMIT_MS,
)

it(
  'a version that fails is worse in shadow, and the engine switches back from it',
  async () => {
    const element = withArgument('each')
    const failing = `let n = 0; return { process: () => { if (++n > 1) throw new Error('lens cap'); return {} } }`
    await upload({
      version: '1.2.0',
      element,
      members: 'migrate: ({ each }: any) => ({ each }),',
      open: failing,
    })
    const report = await runInShadow('1.2.0')
    expect(report).toMatchObject({
      verdict: 'worse',
      findings: expect.arrayContaining([expect.stringContaining('lens cap')]),
    })
    const refusal = await api.plugin.acceptShadow('probe', {}).catch(error => error)
    expect(refusal).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('did worse in shadow'),
    })

    await api.plugin.use('probe', { version: '1.2.0' })
    await until(async () => (await api.plugin.get('probe')).active === '1.1.0')
    await awaitFrames(10)
    const switches = await api.plugin.switches('probe')
    expect(switches.map(({ from, to }) => `${from} → ${to}`)).toEqual([
      '1.0.0 → 1.1.0',
      '1.1.0 → 1.2.0',
      '1.2.0 → 1.1.0',
    ])
    const { reason, client } = switches.at(-1)!
    expect(reason).toMatch(
      /^1\.2\.0 has failed \d+ times within \d+ s on channel \d+ \(probe: lens cap.*1\.1\.0 had not failed/,
    )
    expect(client).toBeUndefined()
    expect(await getArgs()).toEqual({ each: 10, from: 1 })
    expect((await run('plugin switches probe')).out).toContain('1.2.0 has failed')
  },
  LIMIT_MS,
)

it('a switch and an edit that depend on each other are one request', async () => {
  const refusal = await api.plugin.use('probe', { version: '1.0.0' }).catch(error => error)
  expect(refusal).toMatchObject({ code: 'reference' })
  const edit = (every: number | string) => ({
    version: '1.0.0',
    pipelines: [{ id: pipeline, elements: [{ name: 'probe', args: { every } }] }],
  })
  const invalid = await api.plugin.use('probe', edit('often')).catch(error => error)
  expect(invalid).toMatchObject({
    code: 'syntax',
    message: expect.stringContaining('/pipelines/0/elements/0/args/every'),
  })
  expect(await api.plugin.use('probe', edit(3))).toMatchObject({ active: '1.0.0' })
  expect(await getArgs()).toEqual({ every: 3 })
})
