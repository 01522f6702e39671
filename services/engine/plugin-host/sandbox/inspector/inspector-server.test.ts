import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { WebSocket } from 'ws'
import { createElementFrame as frame } from '../../../../../test/fixtures/engine/element-frame.ts'
import { writePlugin } from '../../../../../test/fixtures/engine/test-plugin.ts'
import type { OpenedElement } from '../../protocol/remote-element.ts'
import { openPluginQuarantine } from '../plugin-quarantine.ts'
import { createTestSandboxes, openProbe } from '../probe-sandboxes.fixture.ts'
import type { Sandboxes } from '../sandboxes.ts'
import { type InspectorServer, serveInspector } from './inspector-server.ts'

/** A debugger connects to elements in their sandboxes. */

const LIMIT_MS = 120_000
const folder = mkdtempSync(join(tmpdir(), 'eyrie-inspector-'))
const log = createLog('test', 'silent')
const opened: OpenedElement[] = []
let server: InspectorServer
let sandboxes: Sandboxes

beforeAll(async () => {
  const open = `return {
  process(frame: any) {
    const doubled = frame.n * 2
    return { counters: { seen: { doubled } } }
  },
}`
  writePlugin(folder, { open })
  server = await serveInspector('probe', 0)
  sandboxes = await createTestSandboxes(folder, {
    quarantine: openPluginQuarantine({ file: join(folder, 'quarantine.json'), log }),
    allowsPartialIsolation: false,
    inspector: { plugin: 'probe', server },
    log,
  })
})
afterAll(async () => {
  for (const element of opened) element.close?.()
  await server.close()
  rmSync(folder, { recursive: true })
})

async function open(version: string): Promise<OpenedElement> {
  const element = await openProbe(sandboxes, folder, log, {
    plugin: { plugin: 'probe', version, channel: 1 },
  })
  opened.push(element)
  return element
}

async function list() {
  const response = await fetch(`http://127.0.0.1:${server.port}/json/list`)
  return (await response.json()) as { title: string; webSocketDebuggerUrl: string }[]
}

/** The parts of the messages of the Chrome DevTools Protocol that the tests read. */
interface ProtocolMessage {
  id?: number
  method?: string
  params?: { url?: string; scriptId?: string; callFrames?: { callFrameId: string }[] }
  result?: { scriptSource?: string; result?: { value: unknown } }
  error?: { message: string }
}

/**
 * Connects as Chrome does, and sets a breakpoint in the line that doubles the number of a frame.
 */
async function connectDebugger() {
  const [target] = await list()
  const socket = new WebSocket(target!.webSocketDebuggerUrl)
  const messages: ProtocolMessage[] = []
  socket.on('message', data => messages.push(JSON.parse(String(data))))
  await once(socket, 'open')
  let lastId = 0
  async function send(method: string, params?: object) {
    const id = ++lastId
    socket.send(JSON.stringify({ id, method, params }))
    const isAnswer = (message: { id?: number }) => message.id === id
    return vi.waitUntil(() => messages.find(isAnswer), { timeout: LIMIT_MS })
  }
  await send('Debugger.enable')
  const script = messages.find(({ params }) => params?.url?.endsWith('/probe/element.ts'))
  const { url, scriptId } = script!.params!
  const { result } = await send('Debugger.getScriptSource', { scriptId })
  const lineNumber = result!.scriptSource!.split('\n').findIndex(line => line.includes('doubled ='))
  await send('Debugger.setBreakpointByUrl', { url, lineNumber: lineNumber + 1 })
  const awaitPause = () =>
    vi.waitUntil(() => messages.find(({ method }) => method === 'Debugger.paused'), {
      timeout: LIMIT_MS,
    })
  return { socket, send, awaitPause }
}

const doubled = (value: number) => ({ counters: { seen: { doubled: value } } })

it('a debugger pauses a frame for longer than frames may take, evaluates variables, and changes them', {
  timeout: LIMIT_MS,
}, async () => {
  const element = await open('1.0.0-dev')
  expect(await list()).toMatchObject([{ title: 'probe on channel 1', type: 'node' }])
  const { socket, send, awaitPause } = await connectDebugger()
  const result = element.process(frame(3))
  const { callFrameId } = (await awaitPause()).params!.callFrames![0]!
  const evaluate = (expression: string) =>
    send('Debugger.evaluateOnCallFrame', { callFrameId, expression })
  expect((await evaluate('frame.n')).result?.result?.value).toBe(3)
  // The limit is a second.
  await evaluate('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1200)')
  await send('Debugger.setVariableValue', {
    ...{ scopeNumber: 0, variableName: 'doubled', newValue: { value: 7 }, callFrameId },
  })
  await send('Debugger.resume')
  expect(await result).toEqual(doubled(7))
  expect((await send('No.such')).error?.message).toContain('No.such')
  socket.close()
})

it('a paused frame continues when new code replaces the element, and the debugger finds that', {
  timeout: LIMIT_MS,
}, async () => {
  const paused = await connectDebugger()
  const result = opened[0]!.process(frame(4))
  await paused.awaitPause()
  const closed = once(paused.socket, 'close')
  const next = await open('1.0.0-dev')
  await closed
  expect(await result).toEqual(doubled(8))
  expect(await list()).toHaveLength(1)

  const { awaitPause, socket } = await connectDebugger()
  const nextResult = next.process(frame(5))
  await awaitPause()
  socket.terminate()
  expect(await nextResult).toEqual(doubled(10))
})

it('elements that are closed end although a debugger is connected', {
  timeout: LIMIT_MS,
}, async () => {
  const { socket } = await connectDebugger()
  const closed = once(socket, 'close')
  for (const element of opened) element.close?.()
  await closed
  await vi.waitUntil(async () => (await list()).length === 0, { timeout: LIMIT_MS })
})

it('released versions are not offered to debuggers', async () => {
  await open('1.0.0')
  expect(await list()).toEqual([])
})

it('pages in a browser can neither list processes nor connect', async () => {
  await open('1.0.0-dev')
  const [target] = await list()
  const { port } = server
  for (const headers of [{ Host: 'attacker.example' }, { Origin: 'http://attacker.example' }]) {
    const listed = request({ port, path: '/json/list', headers }).end()
    const [response] = await once(listed, 'response')
    expect(response.statusCode).toBe(403)
    response.resume()
    const refused = new WebSocket(target!.webSocketDebuggerUrl, { headers })
    await once(refused, 'error')
  }
  const unknown = new WebSocket(`ws://127.0.0.1:${port}/other`)
  await once(unknown, 'error')
})
