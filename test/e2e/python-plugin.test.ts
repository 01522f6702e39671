// @module-tag long

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OutputMessage } from '@eyrie/contract'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { followOutput } from '../fixtures/engine/followed-output.ts'
import { writeOwnModel } from '../fixtures/engine/mean-colour-model.ts'
import type { ArchiveEntry } from '../fixtures/engine/plugin-package.ts'
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

/** Measures the brightness of the picture with a model, in a unit that its argument says. */
const createBrightness = (argument: string, migrate: string) => `
from dataclasses import dataclass
from eyrie_element import Context, Element, ElementDefinition, Frame, Result

@dataclass
class Args:
    ${argument}: int

class Brightness(Element):
    def __init__(self, context: Context[Args, None]) -> None:
        self.context = context

    def process(self, frame: Frame) -> Result:
        mean = self.context.infer('colour').output().mean()
        return Result(counters={'${argument}': {'value': round(float(mean) * self.context.args.${argument}, 3)}})

def migrate(args, from_):
    ${migrate || 'return args'}

elements = {'brightness': ElementDefinition(Brightness, args=Args, migrate=migrate)}
`

let folder: string
let media: MediaProcess
let engine: EngineProcess
let messages: readonly OutputMessage[]

const until = (condition: () => unknown) =>
  vi.waitUntil(condition, { timeout: LIMIT_MS, interval: 50 })
const findEvents = (type: string) =>
  messages.flatMap(message =>
    message.kind === 'event' && message.data.type === type ? [message.data] : [],
  )
const findReasons = () =>
  messages.flatMap(message => (message.kind === 'state' ? [String(message.data.reason ?? '')] : []))

async function startEngine(): Promise<void> {
  engine = await startEngineProcess({ data: join(folder, 'data'), media })
  messages = await followOutput(engine.api, ['event', 'frame', 'state'])
}

const upload = async (plugin: PythonPlugin, ...files: ArchiveEntry[]) =>
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
      messages.flatMap(message =>
        message.kind === 'frame' ? [message.data.counters.ball?.seen ?? 0] : [],
      )
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
    await until(() =>
      findReasons().some(reason => reason.includes(`ValueError: three (element.py:${line})`)),
    )
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
    [
      'an attempt to read files',
      "open('/etc/passwd')",
      /PermissionError: .*passwd' \(element\.py:1\)/,
    ],
    ['an end of its process', 'import os; os._exit(3)', /exited with code 3 while loading/],
  ])('is refused with %s', async (_, code, reason) => {
    await expect(upload({ name: 'broken', code })).rejects.toThrow(reason)
  })

  it('may contain its own libraries', async () => {
    const code = `from own_library import VALUE\n${ELEMENT.replaceAll('ball-finder', 'with-library')}`
    const library = { name: 'package/vendor/own_library.py', content: 'VALUE = 1\n' }
    await upload({ ...PLUGIN, name: 'with-library', code }, library)
  })

  it('runs its own model, and a switch of its version migrates the arguments of pipelines', async () => {
    const own = writeOwnModel(join(folder, 'model'), 'colour', { width: 8, height: 8 })
    const model = {
      name: 'package/colour.onnx',
      content: readFileSync(join(folder, 'model/colour.onnx')),
    }
    const createVersion = (version: string, argument: string, migrate: string): PythonPlugin => ({
      ...{ name: 'brightness', version, code: createBrightness(argument, migrate) },
      element: {
        runs: 'worker',
        capabilities: {
          ...{ network: [], counters: ['value'], events: {} },
          inference: { models: [], own: [own], width: 64 },
        },
        params_schema: {
          type: 'object',
          properties: { [argument]: { type: 'integer' } },
          required: [argument],
          additionalProperties: false,
        },
      },
    })
    await upload(createVersion('1.0.0', 'factor', ''), model)
    const sources = [{ type: 'inf' as const, address: 'test://ball' }]
    const deployed = await engine.api.deploy([
      { sources, sinks: [], elements: [{ name: 'brightness', args: { factor: 1000 } }] },
    ])
    const { id } = deployed.pipelines[0]!
    const findValue = (name: string) =>
      messages.flatMap(message =>
        message.kind === 'frame' ? [message.data.counters[name]?.value ?? 0] : [],
      )
    await until(() => findValue('factor').some(value => value > 0))

    const failing = "raise LookupError(f'{from_} has no {list(args)}')"
    await upload(createVersion('1.1.0', 'scale', failing), model)
    const refused = engine.api.plugin.use('brightness', { version: '1.1.0' })
    await expect(refused).rejects.toThrow(
      /failed to migrate the arguments of pipelines: LookupError: 1\.0\.0 has no \['factor'\] \(element\.py:\d+\)/,
    )
    await upload(createVersion('1.2.0', 'scale', "return ['scale']"), model)
    await expect(engine.api.plugin.use('brightness', { version: '1.2.0' })).rejects.toThrow(
      /migrate of brightness should return a dict, not list/,
    )
    const getArgs = async () => (await engine.api.pipeline.get(id)).elements[0]?.args
    expect(await getArgs()).toEqual({ factor: 1000 })

    await upload(createVersion('1.3.0', 'scale', "return {'scale': args['factor'] * 2}"), model)
    await engine.api.plugin.use('brightness', { version: '1.3.0' })
    expect(await getArgs()).toEqual({ scale: 2000 })
    await until(() => findValue('scale').some(value => value > 0))
  })
})
