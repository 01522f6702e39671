// @module-tag long

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OutputMessage } from '@eyrie/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { packPlugin } from '../../sdk/cli/plugin/plugin-archive.ts'
import { followOutput } from '../fixtures/engine/followed-output.ts'
import { createPublisher, createSignedPackage } from '../fixtures/engine/signed-package.ts'
import { type TestPlugin, writePlugin } from '../fixtures/engine/test-plugin.ts'
import { SMALL_PICTURE } from '../fixtures/media/small-picture.ts'
import { type EngineProcess, startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { type MediaProcess, startMediaProcess } from '../fixtures/processes/media-process.ts'

// The attacker is the author of an uploaded plugin. A neighbour analyses the same camera on
// a channel of its own.

const LIMIT_MS = 180_000

let folder: string
let media: MediaProcess
let engine: EngineProcess
let messages: readonly OutputMessage[]
/** The channels of the hostile plugin and of its neighbour. */
let own: number
let neighbour: number
let version = 0

const harmless = 'return { process: () => ({}) }'

const until = (condition: () => unknown) =>
  vi.waitUntil(condition, { timeout: LIMIT_MS, interval: 20 })
const framesOf = (channel: number) =>
  messages.flatMap(message =>
    message.kind === 'frame' && message.channel === channel ? [message.data] : [],
  )
const reasonsOf = (channel: number, from = 0) =>
  messages
    .slice(from)
    .flatMap(message =>
      message.kind === 'state' && message.channel === channel
        ? [String(message.data.reason ?? '')]
        : [],
    )

const startEngine = () =>
  startEngineProcess({ data: join(folder, 'data'), media, plugins: join(folder, 'plugins') })

async function upload(plugin: TestPlugin): Promise<void> {
  writePlugin(join(folder, 'uploads'), { name: 'hostile', ...plugin })
  const { archive } = await packPlugin(join(folder, 'uploads/hostile'))
  await engine.api.plugin.upload(archive)
}

/** Uploads another version, and switches to it. */
async function activate(plugin: TestPlugin): Promise<string> {
  version += 1
  const name = `${version}.0.0`
  await upload({ version: name, ...plugin })
  await engine.api.plugin.use('hostile', { version: name, revert: false })
  return name
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-hostile-'))
  writePlugin(join(folder, 'plugins'), { name: 'neighbour', open: harmless })
  media = await startMediaProcess()
  engine = await startEngine()
  await upload({ version: '0.0.1', open: harmless })

  messages = await followOutput(engine.api, ['frame', 'state'])

  const sources = [{ type: 'inf' as const, address: SMALL_PICTURE }]
  const { pipelines } = await engine.api.deploy([
    { sources, sinks: [], elements: [{ name: 'hostile' }] },
    { sources, sinks: [], elements: [{ name: 'neighbour' }] },
  ])
  const { channels = [] } = await engine.api.getExports()
  const [first, second] = pipelines.map(
    ({ id }) => channels.find(({ pipeline }) => pipeline === id)!.id,
  )
  own = first!
  neighbour = second!
  await until(() => framesOf(own).length > 0 && framesOf(neighbour).length > 0)
}, LIMIT_MS)

afterAll(async () => {
  await engine.stop()
  await media.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('an uploaded plugin', () => {
  it.each([
    ['hangs', 'return { process: () => { for (;;); } }', /hostile: no answer within 1 s/],
    [
      'crashes',
      'return { process: () => process.abort() }',
      /hostile: its process was ended by SIGABRT/,
    ],
    [
      'uses all memory',
      'const all = []; return { process: () => { for (;;) all.push(Buffer.alloc(2 ** 20, 1)) } }',
      /hostile: (it uses \d+ MiB of memory|its process|no answer)/,
    ],
    [
      'reports a flood of events',
      `return { process: () => ({ events: Array(10_000).fill({ type: 'flood' }) }) }`,
      /hostile: it reports 10000 events for a frame/,
    ],
    [
      'logs without end',
      `const pause = () => new Promise(setImmediate)
       return { process: async () => { for (;;) { setup.log.info({}, 'x'.repeat(1000)); await pause() } } }`,
      /hostile: (it writes more than 256 KiB of log|no answer within 1 s)/,
    ],
    [
      'forges messages',
      `return import('node:fs').then(({ writeSync }) => ({
         process: () => { writeSync(3, '{"type":"processed"}'.repeat(100)); return {} },
       }))`,
      /hostile: it sends/,
    ],
  ])(
    'that %s costs its own channel only, which names it',
    async (_, open, reason) => {
      const from = messages.length
      const before = framesOf(neighbour).length
      await activate({ open })
      await until(() => reasonsOf(own, from).some(text => reason.test(text)))
      await until(() => framesOf(neighbour).length > before + 30)

      // On a busy machine, it may lose frames and time to any other program.
      const isSlow = (reason: string) => /machine is too slow|no answer within/.test(reason)
      expect(reasonsOf(neighbour, from).filter(reason => reason !== '' && !isSlow(reason))).toEqual(
        [],
      )
      // The next version works at once.
      const worked = framesOf(own).length
      await activate({ open: harmless })
      await until(() => framesOf(own).length > worked)
    },
    LIMIT_MS,
  )

  it(
    'that crashes three times within a minute is in quarantine until a person releases it',
    async () => {
      const crashed = /hostile: its process was ended by SIGABRT/
      const quarantined = /in quarantine.*SIGABRT.*eyrie plugin release hostile/
      const before = messages.length
      const broken = await activate({ open: 'return { process: () => process.abort() }' })
      await until(() => reasonsOf(own, before).some(text => quarantined.test(text)))

      const find = async () => {
        const { versions } = await engine.api.plugin.get('hostile')
        return versions.find(each => each.version === broken)?.quarantined
      }
      expect(await find()).toEqual([
        { channel: own, reason: expect.stringMatching(/SIGABRT/), time: expect.any(String) },
      ])
      const health = async () => (await fetch(new URL('/health', engine.url))).json()
      expect(await health()).toMatchObject({
        alarms: expect.arrayContaining([
          expect.stringMatching(`version ${broken} of plugin hostile .* channel ${own},`),
        ]),
        plugin_isolation: { level: expect.stringMatching(/full|partial/) },
      })

      const from = messages.length
      await engine.api.plugin.release('hostile')
      expect(await find()).toBeUndefined()
      // It runs again, and crashes again.
      await until(() => reasonsOf(own, from).some(text => crashed.test(text)))
      await activate({ open: harmless })
    },
    LIMIT_MS,
  )

  it(
    'whose files have changed since it was installed does not run',
    async () => {
      const changed = await activate({ open: harmless })
      const file = join(folder, 'data/plugins/hostile', changed, 'element.ts')
      await activate({ open: harmless })
      writeFileSync(
        file,
        'export default { hostile: { open: () => ({ process: () => ({}) }) } } // changed',
      )
      await engine.api.plugin.use('hostile', { version: changed, revert: false })
      await until(() => reasonsOf(own).some(text => /files of version .* have changed/.test(text)))
      await activate({ open: harmless })
    },
    LIMIT_MS,
  )

  it(
    'that reports what its manifest does not declare is stopped',
    async () => {
      const capabilities = {
        events: { crowd: { count: 'number' as const } },
        counters: [],
        network: [],
      }
      const undeclared = await activate({
        element: { capabilities },
        open: `return { process: () => ({ events: [{ type: 'fire' }] }) }`,
      })
      const { versions } = await engine.api.plugin.get('hostile')
      expect(versions.find(each => each.version === undeclared)?.capabilities).toEqual({
        hostile: capabilities,
      })
      await until(() =>
        reasonsOf(own).some(text => /events of the type fire, which its/.test(text)),
      )
    },
    LIMIT_MS,
  )

  it(
    'whose publisher was distrusted ends and does not start again, which the channel and the health report',
    async () => {
      const unsigned = await activate({ open: harmless })
      const { pluginTrust, plugin } = engine.api
      const publisher = createPublisher('Acme')
      await pluginTrust.addException('hostile')
      await pluginTrust.setPublisher(publisher.key, { name: 'Acme' })
      version += 1
      const signed = `${version}.0.0`
      const open = 'return { process: () => ({ counters: { hostile: { signed: 1 } } }) }'
      await plugin.upload(
        await createSignedPackage({ name: 'hostile', version: signed, open }, publisher),
      )
      await plugin.use('hostile', { version: signed, revert: false })
      const countSigned = () =>
        framesOf(own).filter(({ counters }) => counters.hostile?.signed).length
      await until(() => countSigned() > 0)

      const from = messages.length
      await pluginTrust.setPublisher(publisher.key, { name: 'Acme', state: 'distrusted' })
      const refused =
        /version \S+ of plugin hostile does not start: its publisher Acme has been distrusted/
      await until(() => reasonsOf(own, from).some(text => refused.test(text)))
      const health = await (await fetch(new URL('/health', engine.url))).json()
      expect(health).toMatchObject({
        alarms: expect.arrayContaining([expect.stringMatching(refused)]),
      })

      // Trust lets it run again at once.
      const worked = countSigned()
      await pluginTrust.setPublisher(publisher.key, { name: 'Acme' })
      await until(() => countSigned() > worked)
      await plugin.use('hostile', { version: unsigned, revert: false })
      await plugin.remove({ name: 'hostile', version: signed })
    },
    LIMIT_MS,
  )

  it(
    'that was not granted what it asks for does not run, even if it has become the selected one',
    async () => {
      version += 1
      const name = `${version}.0.0`
      const capabilities = { events: {}, counters: [], network: ['api.example.com:443'] }
      await upload({ version: name, element: { capabilities }, open: harmless })
      const refusal = await engine.api.plugin
        .use('hostile', { version: name, revert: false })
        .catch(error => error)
      expect(refusal).toMatchObject({ code: 'grant', status: 409 })

      await engine.stop()
      writeFileSync(join(folder, 'data/plugins/active.json'), JSON.stringify({ hostile: name }))
      engine = await startEngine()
      const [pipeline] = (await engine.api.pipeline.list()).filter(
        ({ elements }) => elements[0]?.name === 'hostile',
      )
      const untilStatus = (expected: object) =>
        vi.waitFor(
          async () =>
            expect(await engine.api.pipelineStatistics(pipeline!.id)).toMatchObject(expected),
          { timeout: LIMIT_MS, interval: 100 },
        )
      await untilStatus({
        status: 'failed',
        reason: expect.stringMatching(/asks for more than was granted: .*api\.example\.com:443/),
      })
      await engine.api.plugin.use('hostile', { version: name, revert: false, grant: true })
      await untilStatus({ status: 'running' })
    },
    LIMIT_MS,
  )
})
