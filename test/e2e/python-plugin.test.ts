import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OutputMessage } from '@eyrie/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createPythonPackage, type PythonPlugin } from '../fixtures/engine/python-plugin.ts'
import { type EngineProcess, startEngineProcess } from '../fixtures/processes/engine-process.ts'
import { type MediaProcess, startMediaProcess } from '../fixtures/processes/media-process.ts'

// An element in Python analyses a test picture: a white ball on black.

const LIMIT_MS = 180_000

const ELEMENT = `
from dataclasses import dataclass
import numpy
from eyrie_element import Context, Element, ElementDefinition, Event, Frame, Result, View

@dataclass
class Args:
    limit: int = 128

@dataclass
class Started(Event):
    type = 'started'
    starts: int

@dataclass
class Ball(Event):
    type = 'ball'
    size: int

class BallFinder(Element):
    view = View(format='GRAY8', width=64, height=36, letterbox=False)

    def __init__(self, context: Context[Args, None]) -> None:
        self.context = context
        self.starts = int(context.storage.read('starts') or 0) + 1
        self.seen = 0
        context.storage.write('starts', str(self.starts))
        context.log.info('opened', starts=self.starts)

    def process(self, frame: Frame) -> Result:
        size = int(numpy.count_nonzero(frame.picture.pixels > self.context.args.limit))
        self.seen += 1
        self.context.metrics.set('ball_size', size)
        events = [Started(self.starts), Ball(size)] if self.seen == 1 else []
        return Result(counters={'ball': {'seen': self.seen, 'size': size}}, events=events)

elements = {'ball-finder': ElementDefinition(BallFinder, args=Args, events=[Started, Ball])}
`

const PLUGIN: PythonPlugin = {
  name: 'ball-finder',
  element: {
    runs: 'worker',
    needs: ['pixels'],
    capabilities: {
      frames: { format: 'GRAY8', width: 64, height: 36 },
      events: { started: { starts: 'number' }, ball: { size: 'number' } },
      counters: ['seen', 'size'],
      network: [],
      storage_bytes: 1000,
    },
    params_schema: { type: 'object', properties: { limit: { type: 'integer', default: 128 } } },
  },
  code: ELEMENT,
}

let folder: string
let media: MediaProcess
let engine: EngineProcess
let messages: OutputMessage[]

const until = (condition: () => unknown) => vi.waitUntil(condition, { timeout: LIMIT_MS, interval: 50 })
const findEvents = (type: string) =>
  messages.flatMap(message => (message.kind === 'event' && message.data.type === type ? [message.data] : []))
const findReasons = () =>
  messages.flatMap(message => (message.kind === 'state' ? [String(message.data.reason ?? '')] : []))

async function startEngine(): Promise<void> {
  engine = await startEngineProcess({ data: join(folder, 'data'), media })
  messages = []
  const listening = Promise.withResolvers<void>()
  void (async () => {
    for await (const message of engine.api.output({ kinds: ['event', 'frame', 'state'] }))
      if (message.kind === 'hello') listening.resolve()
      else if (message.kind !== 'gap') messages.push(message)
  })().catch(() => {})
  await listening.promise
}

const upload = async (plugin: PythonPlugin, ...files: { name: string; content: string }[]) =>
  engine.api.plugin.upload(await createPythonPackage(plugin, files))

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-python-'))
  media = await startMediaProcess()
  await startEngine()
}, LIMIT_MS)

afterAll(async () => {
  await engine.stop()
  await media.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('an uploaded plugin in Python', () => {
  it('reads pictures, and reports events, counters and metrics', async () => {
    await upload(PLUGIN)
    const sources = [{ type: 'inf' as const, address: 'test://ball' }]
    await engine.api.deploy([{ sources, sinks: [], elements: [{ name: 'ball-finder' }] }])
    await until(() => findEvents('ball').length > 0)
    const [ball] = findEvents('ball')
    expect(ball!.size).toBeGreaterThan(0)
    expect(ball!.size).toBeLessThan((64 * 36) / 4)
    expect(findEvents('started')[0]).toMatchObject({ starts: 1 })
    const findCounts = () =>
      messages.flatMap(message => (message.kind === 'frame' ? [message.data.counters.ball?.seen ?? 0] : []))
    await until(() => findCounts().some(seen => seen > 5))
  })

  it('finds its files again after a restart of the engine', async () => {
    await engine.stop()
    await startEngine()
    await until(() => findEvents('started').length > 0)
    expect(findEvents('started')[0]).toMatchObject({ starts: 2 })
  })

  it('reports an error with the file and line, and opens again', async () => {
    const code = ELEMENT.replace(
      '        self.seen += 1\n',
      "        self.seen += 1\n        if self.seen == 3: raise ValueError('three')\n",
    )
    await upload({ ...PLUGIN, version: '1.1.0', code })
    await engine.api.plugin.use('ball-finder', { version: '1.1.0' })
    const line = code.split('\n').findIndex(text => text.includes("ValueError('three')")) + 1
    await until(() => findReasons().some(reason => reason.includes(`ValueError: three (element.py:${line})`)))
    await until(() => findEvents('started').length > 2)
  })

  it.each([
    [
      'an error in its code',
      'x = 1\nx.missing',
      /AttributeError: 'int' object has no attribute 'missing' \(element\.py:2\)/,
    ],
    [
      'a library that is missing',
      'import no_such_library',
      /No module named 'no_such_library': install it .*vendor/,
    ],
    ['no elements', 'x = 1', /element\.py should have a variable elements/],
    ['another element than its manifest', 'elements = {}', /has no ElementDefinition "broken"/],
    ['an attempt to read files', "open('/etc/passwd')", /PermissionError: .*passwd' \(element\.py:1\)/],
    ['an end of its process', 'import os; os._exit(3)', /exited with code 3 while loading/],
  ])('is refused with %s', async (_, code, reason) => {
    await expect(upload({ name: 'broken', code })).rejects.toThrow(reason)
  })

  it('may contain its own libraries', async () => {
    const code = `from own_library import VALUE\n${ELEMENT.replaceAll('ball-finder', 'with-library')}`
    const library = { name: 'package/vendor/own_library.py', content: 'VALUE = 1\n' }
    await upload({ ...PLUGIN, name: 'with-library', code }, library)
  })
})
