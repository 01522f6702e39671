// @module-tag long

import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SDK_VERSION } from '@eyrie/contract/sdk-version'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { runCommandLine } from '../../sdk/cli/command-line.ts'
import { packPlugin } from '../../sdk/cli/plugin/plugin-archive.ts'
import { writePlugin } from '../fixtures/engine/test-plugin.ts'
import { findFreePort } from '../fixtures/network/free-ports.ts'
import { runEyrieCommand } from '../fixtures/processes/command-line.ts'
import { type EngineProcess, startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { type MediaProcess, startMediaProcess } from '../fixtures/processes/media-process.ts'

// An author changes an element while it runs on a test picture, and watches it in the page of
// `eyrie plugin dev`. An owner upgrades a plugin.

const LIMIT_MS = 180_000

let folder: string
let project: string
let media: MediaProcess
let engine: EngineProcess
let debuggerPort: number

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-dev-'))
  project = join(folder, 'pulse')
  mkdirSync(project)
  mkdirSync(join(folder, 'data/log'), { recursive: true })
  writeFileSync(join(folder, 'data/log/eyrie.log'), '')
  writeManifest('1.0.0')
  writeElement(
    `return state.frames % 30 === 1 ? { events: [{ type: 'pulse', beat: 'first', frames: state.frames }] } : {}`,
  )
  debuggerPort = await findFreePort()
  media = await startMediaProcess()
  engine = await startEngineProcess({
    data: join(folder, 'data'),
    media,
    variables: { EYRIE_INSPECT: `pulse:${debuggerPort}` },
  })
}, LIMIT_MS)
afterAll(async () => {
  await engine.stop()
  await media.stop()
  rmSync(folder, { recursive: true, force: true })
})

function writeManifest(version: string): void {
  const described = {
    name: 'pulse',
    title: 'Pulse',
    description: 'Beats',
    passthrough: true,
    runs: 'worker',
  }
  const element = {
    ...described,
    needs: ['pixels'],
    capabilities: { frames: { format: 'GRAY8', width: 16, height: 16 } },
  }
  const plugin = {
    name: 'pulse',
    version,
    license: 'MIT',
    sdk: `^${SDK_VERSION}`,
    entry: 'element.ts',
  }
  writeFileSync(join(project, 'plugin.json'), JSON.stringify({ ...plugin, elements: [element] }))
}

/** Writes the element. `body` processes a frame, in line 11. */
function writeElement(body: string): void {
  writeFileSync(
    join(project, 'element.ts'),
    `import { defineElement, definePlugin, z } from '@eyrie/element'

const pulse = defineElement({
  args: z.strictObject({}),
  events: { pulse: z.object({ beat: z.string(), frames: z.int() }) },
  view: { format: 'GRAY8', width: 16, height: 16, multiple_of: 1, letterbox: false, fill: 0 },
  state: () => ({ frames: 0 }),

  process(_, { state }) {
    state.frames += 1
    ${body}
  },
})

export default definePlugin({ pulse })
`,
  )
}

/** Starts the command. Returns what it prints, and the function that interrupts it. */
function startDev(...options: string[]) {
  const printed = { out: '', err: '' }
  const interruption = new AbortController()
  const finished = runCommandLine(['plugin', 'dev', project, ...options], {
    data: join(folder, 'data'),
    environment: { EYRIE_ENGINE_URL: engine.url },
    out: { write: (text: string) => (printed.out += text) },
    err: { write: (text: string) => (printed.err += text) },
    captureInterrupt: () => interruption.signal,
  })
  return { printed, finished, interrupt: () => interruption.abort() }
}

const until = (condition: () => unknown) =>
  vi.waitUntil(condition, { timeout: LIMIT_MS, interval: 20 })

it('eyrie plugin dev reloads an element with its state when it is saved, and shows its events, log, errors and video in a page', {
  timeout: LIMIT_MS,
}, async () => {
  const released = startDev('--source', 'test://ball')
  expect(await released.finished).toBe(1)
  expect(released.printed.err).toMatch(/set "version": "1\.0\.0-dev"/)

  writeManifest('1.0.0-dev')
  const elsewhere = startDev('--source', 'test://ball', `--inspect=${debuggerPort + 1}`)
  expect(await elsewhere.finished).toBe(1)
  expect(elsewhere.printed.err).toMatch(
    /serves no debugger for pulse on port .*EYRIE_INSPECT=pulse:/,
  )

  const inspect = `--inspect=${debuggerPort}`
  const { printed, finished, interrupt } = startDev('--source', 'test://ball', inspect)
  await until(() => printed.out.includes('event  pulse beat=first') || printed.err)
  expect(printed.err).toBe('')
  const [, url = ''] = /page: (http:\S+)/.exec(printed.out) ?? []
  expect(printed.out).toContain(
    `debugger: open chrome://inspect in Chrome, or attach an editor to 127.0.0.1:${debuggerPort}`,
  )
  const targets = await fetch(`http://127.0.0.1:${debuggerPort}/json/list`)
  expect(await targets.json()).toMatchObject([
    { title: expect.stringMatching(/^pulse on channel \d+$/) },
  ])

  const page = await fetch(url)
  expect(await page.text()).toContain('<script type="module" src="page.js">')
  expect((await fetch(`${url}page.js`)).headers.get('content-type')).toContain('text/javascript')
  for (const foreign of [new URL('/', url), `${url}../page.js`, `${url}plugin.json`]) {
    expect((await fetch(foreign)).status).toBe(404)
  }

  const socketUrl = url.replace('http', 'ws')
  const refused = new WebSocket(`${socketUrl}messages`, {
    headers: { Origin: 'http://example.com' },
  })
  await new Promise(failed => refused.once('error', failed))
  const messages: { kind: string; excerpt?: object; problem?: string }[] = []
  const socket = new WebSocket(`${socketUrl}messages`)
  socket.on('message', data => messages.push(JSON.parse(String(data))))
  await until(() => messages.some(({ kind }) => kind === 'frame'))
  expect(messages[0]).toMatchObject({ kind: 'plugin', title: 'pulse 1.0.0-dev', hasVideo: true })

  const live = new WebSocket(`${socketUrl}live`)
  const video: [text: string | undefined][] = []
  live.on('message', (data, isBinary) => video.push([isBinary ? undefined : String(data)]))
  await until(() => video.length > 1)
  expect(JSON.parse(video[0]![0]!).codecs).toMatch(/^avc1/)
  expect(video[1]![0]).toBeUndefined()
  live.close()

  const record = {
    level: 40,
    time: new Date().toISOString(),
    service: 'engine',
    plugin: 'pulse',
    msg: 'too dark',
  }
  appendFileSync(
    join(folder, 'data/log/eyrie.log'),
    `${JSON.stringify({ ...record, plugin: 'other' })}\n`,
  )
  appendFileSync(join(folder, 'data/log/eyrie.log'), `${JSON.stringify({ ...record, light: 3 })}\n`)
  await until(() => messages.some(({ kind }) => kind === 'log'))
  expect(messages.filter(({ kind }) => kind === 'log')).toMatchObject([
    { level: 'warn', text: 'too dark light=3' },
  ])

  writeElement(
    `return state.frames % 30 === 1 ? { events: [{ type: 'pulse', beat: 'second', frames: state.frames }] } : {}`,
  )
  await until(() => printed.out.includes('event  pulse beat=second'))
  expect(printed.out).toMatch(/reload in \d+ ms/)
  // Every thirtieth frame is an event, before and after the reload.
  const counts = [...printed.out.matchAll(/beat=\w+ frames=(\d+)/g)].map(([, frames]) =>
    Number(frames),
  )
  expect(counts).toEqual(counts.map((_, index) => index * 30 + 1))

  writeElement(`return { events: [state.missing.beat] } as never`)
  await until(() => messages.some(({ excerpt }) => excerpt))
  expect(messages.find(({ excerpt }) => excerpt)).toMatchObject({
    kind: 'state',
    data: {
      reason: expect.stringMatching(
        /pulse: Cannot read properties of undefined .*\(element\.ts:11:/,
      ),
    },
    excerpt: { file: 'element.ts', line: 11 },
  })

  writeElement('return nothing at all')
  await until(() =>
    messages.some(({ kind, problem }) => kind === 'reload' && problem !== undefined),
  )
  expect(printed.out).toMatch(/reload failed: .*element\.ts/)

  socket.close()
  interrupt()
  expect([await finished, printed.err]).toEqual([0, ''])
  expect(await engine.api.pipeline.list()).toEqual([])
  expect(await engine.api.source.list()).toEqual([])
  expect(readFileSync(join(project, 'plugin.json'), 'utf8')).toContain('"beat": "string"')
})

describe('eyrie plugin upgrade', () => {
  const COUNT = 'return { process: () => ({ counters: { frames: { count: 1 } } }) }'

  beforeAll(async () => {
    await upload('1.0.0', COUNT)
    const source = { type: 'inf' as const, address: 'test://ball', decoder: 'gst_h264' as const }
    await engine.api.deploy([{ sources: [source], sinks: [], elements: [{ name: 'probe' }] }])
    await upload('1.1.0', COUNT)
    await upload('1.2.0', `return { process: () => { throw new Error('fog') } }`)
  }, LIMIT_MS)

  async function upload(version: string, open: string): Promise<void> {
    writePlugin(folder, { version, open })
    const { archive } = await packPlugin(join(folder, 'probe'))
    await engine.api.plugin.upload(archive)
  }

  /**
   * Runs the command, and ends the run in shadow once there is a verdict. `answer`: what somebody
   * types at the terminal.
   */
  async function upgrade(version: string, answer: string) {
    const finished = runEyrieCommand(['plugin', 'upgrade', 'probe', version, '--seconds', '600'], {
      data: join(folder, 'data'),
      environment: { EYRIE_ENGINE_URL: engine.url },
      answer,
    })
    const readVerdict = async () => {
      const { version: running, state, verdict } = await engine.api.plugin.getShadow('probe')
      return running === version && state === 'running' && verdict
    }
    await until(async () => ((await readVerdict().catch(() => false)) || 'unknown') !== 'unknown')
    await engine.api.plugin.endShadow('probe')
    return finished
  }
  const getActive = async () => (await engine.api.plugin.get('probe')).active

  it('does not ask whether to switch to a version that does worse', {
    timeout: LIMIT_MS,
  }, async () => {
    const worse = await upgrade('1.2.0', 'y\n')
    expect(worse).toEqual({
      code: 0,
      out: expect.stringContaining('probe 1.2.0 does worse'),
      err: '',
    })
    expect(await getActive()).toBe('1.0.0')
  })

  it('reports how a version differs, and switches to it only after a yes', {
    timeout: LIMIT_MS,
  }, async () => {
    const report = /^running probe 1\.1\.0 in shadow until .*\nCHANNEL .*\nprobe 1\.1\.0 \w+ .*\n/s
    const declined = await upgrade('1.1.0', 'n\n')
    expect(declined).toEqual({
      code: 0,
      out: expect.stringMatching(report),
      err: 'Switch to probe 1.1.0? [y/N] ',
    })
    expect(await getActive()).toBe('1.0.0')

    const accepted = await upgrade('1.1.0', 'y\n')
    expect(accepted).toMatchObject({
      code: 0,
      out: expect.stringMatching(/\nactive probe 1\.1\.0\n$/),
    })
    expect(await getActive()).toBe('1.1.0')
  })
})
