import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Element } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createElementFrame as frame } from '../../../../../test/fixtures/engine/element-frame.ts'
import { writePythonPlugin } from '../../../../../test/fixtures/engine/python-plugin.ts'
import { createTestRing } from '../../../../../test/fixtures/media/test-ring.ts'
import { readPlugin } from '../../known-plugin.ts'
import { impatient, patient } from '../../protocol/element-timeouts.fixture.ts'
import type { ElementTimeouts } from '../../protocol/remote-element.ts'
import { shape, type TestElementOptions, useSandbox } from '../sandboxed-element.fixture.ts'
import { assertPythonInstalled } from './python-process.ts'

const its = useSandbox()

const SDK = `
from dataclasses import dataclass
from eyrie_element import *

@dataclass
class Args:
    step: int = 1

@dataclass
class Outcome(Event):
    type = 'outcome'
    outcome: object = None
`

interface ModuleOptions extends TestElementOptions {
  args?: object
}

/** Opens an element with this module, which defines the class `Probe`, in a sandbox. */
function openModule(code: string, { args = {}, ...options }: ModuleOptions = {}): Promise<Element> {
  writePythonPlugin(its.folder, {
    code: `${SDK}\n${code}\nelements = {'probe': ElementDefinition(Probe, args=Args)}\n`,
  })
  return its.open('element.py', args, options)
}

const indent = (code: string) => code.replaceAll('\n', '\n        ')

/** Opens an element with this body of `process(self, frame)`. */
const openWith = (process: string, options: ModuleOptions = {}) =>
  openModule(
    `class Probe(Element):
    def __init__(self, context):
        self.context = context
    def process(self, frame):
        ${indent(process)}
`,
    options,
  )

/** Opens an element that breaks in `process`, and returns why the frame was not processed. */
async function failWith(process: string, options: ModuleOptions = {}): Promise<string> {
  const opened = await openWith(process, options)
  return Promise.resolve(opened.process(frame(1))).then(
    () => 'it did not fail',
    (error: Error) => error.message,
  )
}

it('Python that is missing is reported with the remedy', () => {
  expect(() => assertPythonInstalled('/nowhere/python3')).toThrow(
    /no \/nowhere\/python3.*apt-get install python3 python3-numpy/,
  )
})

it('a plugin in Python does not run in a thread of the engine', () => {
  writePythonPlugin(its.folder, { code: '' })
  expect(() => readPlugin(join(its.folder, 'probe'), 'folder')).toThrow(
    /upload the plugin with eyrie plugin add/,
  )
})

describe('sandboxed element in Python', () => {
  it('is opened with its setup, returns its results, and forwards its log, metrics and output', async () => {
    const metrics: object[] = []
    const opened = await openModule(
      `
import logging
class Probe(Element):
    def __init__(self, context):
        self.context, self.sum = context, 0
        self.metadata = {'source': context.source_id}
        context.log.warning('low light', level=3)
        logging.getLogger('library').warning('slow')
        print('printed')
    def process(self, frame):
        self.sum += self.context.args.step
        self.context.metrics.set('brightness', 0.5)
        return Result(objects=frame.objects, counters={'seen': {'sum': self.sum, 'at': self.context.clock.seconds}})
    def reset(self):
        self.sum = 0
`,
      { args: { step: 2 }, onMetrics: values => metrics.push(values) },
    )
    expect(opened.metadata).toEqual({ source: 1 })
    await opened.process(frame(1))
    const at = frame(2).pts / 90_000
    expect(await opened.process(frame(2))).toEqual({
      objects: frame(2).objects,
      counters: { seen: { sum: 4, at } },
    })
    expect(await opened.process({ ...frame(3), discontinuity: true })).toMatchObject({
      counters: { seen: { sum: 2 } },
    })
    expect(metrics).toEqual([{ values: { brightness: 0.5 }, totals: {} }])
    expect(its.logged).toContainEqual(['warn', { level: 3, plugin: 'probe' }, 'low light'])
    expect(its.logged).toContainEqual(['warn', { logger: 'library', plugin: 'probe' }, 'slow'])
    await vi.waitFor(() =>
      expect(its.logged).toContainEqual(['info', { plugin: 'probe' }, 'printed']),
    )
    expect(its.crashes).toEqual([])
  })

  it('logs values that JSON cannot express as text', async () => {
    const opened = await openModule(`
import logging
from datetime import date
class Probe(Element):
    def __init__(self, context):
        context.log.info('measured', at=date(2026, 5, 4), share=float('nan'), error=KeyError('a'))
    def process(self, frame):
        try:
            raise KeyError('b')
        except KeyError:
            logging.exception('lost')
        logging.warning('%d people', 'many')
        return Result()
`)
    expect(await opened.process(frame(1))).toEqual({})
    expect(its.logged).toContainEqual([
      'info',
      { at: '2026-05-04', share: 'nan', error: "KeyError: 'a'", plugin: 'probe' },
      'measured',
    ])
    const error = expect.stringMatching(/^KeyError: 'b' \(element\.py:\d+\)$/)
    expect(its.logged).toContainEqual(['error', { logger: 'root', error, plugin: 'probe' }, 'lost'])
  })

  it('imports its own files, and libraries of its package', async () => {
    writePythonPlugin(its.folder, { code: '' })
    writeFileSync(join(its.folder, 'probe/limit.py'), 'LIMIT = 3\n')
    const opened = await openModule(`
import numpy
from limit import LIMIT
class Probe(Element):
    def __init__(self, context): pass
    def process(self, frame):
        return Result(counters={'seen': {'limit': LIMIT, 'sum': numpy.float32(0.5) * numpy.ones(4).sum()}})
`)
    expect(await opened.process(frame(1))).toEqual({ counters: { seen: { limit: 3, sum: 2 } } })
  })

  it('reads pictures of a ring that the engine has sent, without a copy, and of the ring that replaces it', async () => {
    const opened = await openModule(
      `
class Probe(Element):
    view = View(format='GRAY8', width=4, height=2)
    def __init__(self, context): pass
    def process(self, frame):
        picture = frame.picture
        pixels = picture.pixels
        return Result(events=[Outcome(outcome=[pixels.tolist(), pixels.flags.owndata, pixels.flags.writeable,
                                               picture.format, [picture.content.width, picture.content.height]])])
`,
      { needsPixels: true },
    )
    const outcome = (pixels: number[][]) => ({
      events: [{ type: 'outcome', outcome: [pixels, false, false, 'GRAY8', [4, 2]] }],
    })
    its.ring.write(5, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8))
    expect(await opened.process(frame(5))).toEqual(
      outcome([
        [1, 2, 3, 4],
        [5, 6, 7, 8],
      ]),
    )
    its.ring.write(9, new Uint8Array(8))
    await expect(opened.process(frame(5))).rejects.toBeInstanceOf(FrameDroppedError)

    const path = join(its.folder, 'other.ring')
    const other = createTestRing(path, { ...shape, generation: 2 })
    onTestFinished(other.close)
    other.write(10, Uint8Array.of(8, 7, 6, 5, 4, 3, 2, 1))
    its.location = { path, generation: 2 }
    expect(await opened.process(frame(10))).toEqual(
      outcome([
        [8, 7, 6, 5],
        [4, 3, 2, 1],
      ]),
    )
    its.location = { path: join(its.folder, 'removed.ring'), generation: 3 }
    await expect(opened.process(frame(11))).rejects.toBeInstanceOf(FrameDroppedError)
  })

  it('drops a frame whose picture is replaced while it is read', async () => {
    const opened = await openModule(
      `
class Probe(Element):
    view = View(format='GRAY8', width=4, height=2)
    def __init__(self, context):
        self.context = context
    def process(self, frame):
        self.context.storage.delete('any')
        return Result(counters={'sum': {'sum': int(frame.picture.pixels.sum())}})
`,
      {
        needsPixels: true,
        // The element waits for this between two looks at the picture.
        onCall: async () => its.ring.write(5, new Uint8Array(8)),
      },
    )
    its.ring.write(1, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8))
    await expect(opened.process(frame(1))).rejects.toBeInstanceOf(FrameDroppedError)
  })

  it('stores files and sends requests through the engine, which may refuse', async () => {
    const calls: object[] = []
    const opened = await openWith(
      `storage, fetch = self.context.storage, self.context.fetch
storage.write('count', '7')
response = fetch('https://example.com/', method='POST', body=b'x')
try:
    storage.delete('count')
except OSError as error:
    reason = str(error)
return Result(events=[Outcome(outcome=[int(storage.read('count')), storage.names(), response.status, response.text, reason])])`,
      {
        onCall: async call => {
          calls.push(call)
          if (call.method === 'read') return Buffer.from('7').toString('base64')
          if (call.method === 'list') return ['count']
          if (call.method === 'fetch') {
            return { status: 200, headers: {}, body: Buffer.from('fine').toString('base64') }
          }
          if (call.method === 'delete') throw new Error('not permitted')
          return undefined
        },
      },
    )
    expect(await opened.process(frame(1))).toEqual({
      events: [{ type: 'outcome', outcome: [7, ['count'], 200, 'fine', 'not permitted'] }],
    })
    expect(calls).toContainEqual({ method: 'write', name: 'count', content: 'Nw==' })
    expect(calls).toContainEqual({
      method: 'fetch',
      url: 'https://example.com/',
      request: { method: 'POST', headers: {}, body: 'eA==' },
    })
  })

  it.each([
    ['raises in process', 'return self.limit', /^AttributeError: .*'limit' \(element\.py:18\)$/],
    [
      'returns no result',
      "return {'objects': []}",
      /process should return a Result or None, not dict/,
    ],
    [
      'returns what JSON cannot express',
      "return Result(counters={'x': {'y': float('nan')}})",
      /JSON/,
    ],
    [
      'needs a library that is missing',
      'import cv2_missing',
      /apt-get install .* \(element\.py:18\)$/,
    ],
  ])(
    'fails with the file and line when it %s, which is not a crash',
    async (_, process, reason) => {
      expect(await failWith(process)).toMatch(reason)
      expect(its.crashes).toEqual([])
    },
  )

  it('names the file and line of an error of its syntax', async () => {
    await expect(openModule('class Probe(Element:\n  pass')).rejects.toThrow(
      /SyntaxError: .*\(element\.py:14\)/,
    )
  })

  it.each<[does: string, process: string, reason: RegExp, timeouts?: ElementTimeouts]>([
    ['ends its process', 'import sys; sys.exit(3)', /process has ended with exit code 3/],
    ['crashes natively', 'import ctypes; ctypes.string_at(0)', /process was ended by SIGSEGV/],
    [
      'raises in a thread',
      `import threading
def fail(): raise ValueError('stray')
thread = threading.Thread(target=fail); thread.start(); thread.join()
import time; time.sleep(60)`,
      /ValueError: stray \(element\.py:19\)/,
    ],
    ['hangs', 'while True: pass', /no answer within 1 s/, impatient],
    [
      'uses all memory',
      "kept = []\nwhile True: kept.append(b'x' * 1_000_000)",
      /MiB of memory, more than 512|MemoryError/,
    ],
    [
      'reports a flood of events',
      'return Result(events=[Outcome()] * 10_000)',
      /10000 events for a frame/,
    ],
    ['logs without end', "while True: print('x' * 10_000)", /more than 256 KiB of log per second/],
    [
      'sends an answer in place of the SDK',
      `import os; body = b'{"type":"opened"}'
os.write(3, len(body).to_bytes(4, 'little') + b'\\1' + body)
import time; time.sleep(60)`,
      /answers in place of the engine/,
    ],
    [
      'sends a message without end',
      "import os, time; os.write(3, b'\\xff' * 5); time.sleep(60)",
      /unknown kind 255|message of 4294967295 bytes/,
    ],
  ])('is ended when it %s', async (_, process, reason, timeouts = patient) => {
    expect(await failWith(process, { timeouts })).toMatch(reason)
    await expect(its.element!.process(frame(2))).rejects.toThrow(reason)
  })

  it('cannot use what the engine has not granted', async () => {
    const secret = join(its.folder, 'secret')
    writeFileSync(secret, 'content')
    const victim = spawn('/bin/sleep', ['600'])
    onTestFinished(() => void victim.kill('SIGKILL'))
    const attacks = {
      'reads secrets': `open('${secret}').read()`,
      'reads rings by name': `open('${its.ring.path}', 'rb').read()`,
      'lists files': `os.listdir('${its.folder}')`,
      'reads accounts': `open('/etc/passwd').read()`,
      'reads the environment of the engine': `open(f'/proc/{os.getppid()}/environ').read()`,
      'writes a file': `open('/tmp/eyrie-hostile-element', 'w')`,
      'changes its package': `open('${join(its.folder, 'probe/element.py')}', 'w')`,
      'starts a program': `os.posix_spawn('/bin/true', ['true'], {})`,
      'starts a process': 'os.fork()',
      'kills a process': `os.kill(${victim.pid}, 9)`,
      'opens a connection': `socket.create_connection(('127.0.0.1', 9))`,
      'resolves a name': `socket.getaddrinfo('example.com', 80)`,
    }
    const opened = await openWith(`import os, socket
outcome = {'environment': sorted(os.environ)}
for name, attack in ${JSON.stringify(attacks)}.items():
    try:
        eval(attack)
        outcome[name] = 'done'
    except OSError as error:
        outcome[name] = 'refused'
return Result(events=[Outcome(outcome=outcome)])`)
    const result = await opened.process(frame(1))
    const refused = Object.fromEntries(Object.keys(attacks).map(name => [name, 'refused']))
    // What Python itself and the SDK set.
    const environment = ['LC_CTYPE', 'OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS']
    expect(result.events?.[0]?.outcome).toEqual({ environment, ...refused })
    expect(victim.exitCode ?? victim.signalCode).toBe(null)
  })
})
