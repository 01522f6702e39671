import { execFileSync, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { viewSpec } from '@eyrie/contract/view'
import type { Element } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import { toIsolation } from '@eyrie/kit/launcher/isolation'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createElementFrame as frame } from '../../../../test/fixtures/engine/element-frame.ts'
import { writePlugin } from '../../../../test/fixtures/engine/test-plugin.ts'
import { createTestRing } from '../../../../test/fixtures/media/test-ring.ts'
import { impatient, patient } from '../protocol/element-timeouts.fixture.ts'
import type { ElementTimeouts } from '../protocol/remote-element.ts'
import { shape, type TestElementOptions, useSandbox } from './sandboxed-element.fixture.ts'

const view = viewSpec.parse({ format: 'GRAY8', width: 4, height: 2 })
const its = useSandbox()

interface ModuleOptions extends TestElementOptions {
  module?: string
}

/** Opens an element with this body of `open(setup)` in a sandbox. */
function openWith(open: string, { module, ...options }: ModuleOptions = {}): Promise<Element> {
  writePlugin(its.folder, { open, module })
  return its.open('element.ts', { step: 2 }, options)
}

/** Opens an element with this `process`, and returns what it returns for the first frame. */
async function processOnce(process: string, options: ModuleOptions = {}) {
  const opened = await openWith(`return { process: ${process} }`, options)
  return opened.process(frame(1))
}

/** Opens an element that breaks in `process`, and returns why the frame was not processed. */
async function failWith(process: string, options: ModuleOptions = {}): Promise<string> {
  const opened = await openWith(`return { process: ${process} }`, options)
  const failure = Promise.resolve(opened.process(frame(1))).then(
    () => 'it did not fail',
    (error: Error) => error.message,
  )
  const reason = await failure
  await expect(opened.process(frame(2))).rejects.toThrow(reason)
  return reason
}

describe('sandboxed element', () => {
  it('is opened with its setup, returns its results and forwards its log', async () => {
    const opened = await openWith(`
      let sum = 0
      setup.log.warn({ level: 3 }, 'low light')
      console.log('printed')
      return {
        metadata: { source: setup.source.id },
        process: (frame: any) => ({ objects: frame.objects, counters: { seen: { sum: (sum += setup.args.step) } } }),
      }`)
    expect(opened.metadata).toEqual({ source: 1 })
    await opened.process(frame(1))
    expect(await opened.process(frame(2))).toEqual({
      objects: frame(2).objects,
      counters: { seen: { sum: 4 } },
    })
    expect(its.logged).toContainEqual(['warn', { level: 3, plugin: 'probe' }, 'low light'])
    await vi.waitFor(() =>
      expect(its.logged).toContainEqual(['info', { plugin: 'probe' }, 'printed']),
    )
    expect(its.crashes).toEqual([])
  })

  it('logs values that JSON cannot express as text', async () => {
    await openWith(`
      const cyclic = {}
      cyclic.self = cyclic
      setup.log.warn({ error: new Error('no answer'), size: 3n, cyclic, n: 1 }, 'failed')
      return { process: () => ({}) }`)
    const error = expect.stringMatching(/^no answer \(element\.ts:\d+:\d+\)$/)
    const cyclic = expect.stringContaining('Circular')
    const fields = { error, size: '3', cyclic, n: 1, plugin: 'probe' }
    expect(its.logged).toContainEqual(['warn', fields, 'failed'])
  })

  it('runs at the lowest priority in the background, where waiting for a processor takes none of its time', async () => {
    const opened = await openWith(
      `return {
        metadata: { pid: process.pid, priority: getPriority() },
        process: () => {
          const start = process.cpuUsage()
          while (process.cpuUsage(start).user < 20_000);
          return {}
        },
      }`,
      {
        module: `import { getPriority } from 'node:os'`,
        isBackground: true,
        timeouts: { ...patient, processMs: 500 },
      },
    )
    const { pid, priority } = opened.metadata as { pid: number; priority: number }
    expect(priority).toBe(19)
    // Both on one processor, of which the element gets a seventieth: 20 ms take 1.4 s.
    const busy = spawn('taskset', ['-c', '0', process.execPath, '-e', 'for (;;);'])
    onTestFinished(() => void busy.kill('SIGKILL'))
    execFileSync('taskset', ['-pc', '0', String(pid)])
    expect(await opened.process(frame(1))).toEqual({})
    expect(its.crashes).toEqual([])
  })

  it('processes frames at any rate', async () => {
    const opened = await openWith(
      'return { process: (frame: any) => ({ objects: frame.objects }) }',
    )
    // More answers than a process may write within a second without having been asked.
    for (let n = 1; n <= 8000; n += 1) await opened.process(frame(n))
    expect(its.crashes).toEqual([])
  })

  it('imports the SDK and its own files', async () => {
    writePlugin(its.folder, {})
    writeFileSync(join(its.folder, 'probe/limit.ts'), 'export const limit: number = 3')
    const module = `
      import { z } from '@eyrie/element'
      import { limit } from './limit.ts'
      const args = z.strictObject({ step: z.int().max(limit) })`
    const opened = await openWith(
      'const { step } = args.parse(setup.args); return { process: () => ({ counters: { seen: { step } } }) }',
      { module },
    )
    expect(await opened.process(frame(1))).toEqual({ counters: { seen: { step: 2 } } })
  })

  it("reads its view's picture from a ring that the engine has sent, and from the ring that replaces it", async () => {
    const opened = await openWith(
      `return {
        view: ${JSON.stringify(view)},
        process: (frame: any, { width, height, format, content, data }: any) =>
          ({ events: [{ type: 'picture', width, height, format, content, bytes: [...data] }] }),
      }`,
      { needsPixels: true },
    )
    const picture = (bytes: number[]) => ({
      events: [
        {
          type: 'picture',
          width: 4,
          height: 2,
          format: 'GRAY8',
          content: { x: 0, y: 0, width: 4, height: 2 },
          bytes,
        },
      ],
    })
    its.ring.write(5, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8))
    expect(await opened.process(frame(5))).toEqual(picture([1, 2, 3, 4, 5, 6, 7, 8]))
    its.ring.write(9, new Uint8Array(8))
    await expect(opened.process(frame(5))).rejects.toBeInstanceOf(FrameDroppedError)

    const path = join(its.folder, 'other.ring')
    const other = createTestRing(path, { ...shape, generation: 2 })
    onTestFinished(other.close)
    other.write(10, Uint8Array.of(8, 7, 6, 5, 4, 3, 2, 1))
    its.location = { path, generation: 2 }
    expect(await opened.process(frame(10))).toEqual(picture([8, 7, 6, 5, 4, 3, 2, 1]))
    its.location = { path: join(its.folder, 'removed.ring'), generation: 3 }
    await expect(opened.process(frame(11))).rejects.toBeInstanceOf(FrameDroppedError)
  })

  it('does not load its code if the boundaries do not suffice', async () => {
    const open = openWith(`setup.log.info({}, 'opened'); return { process: () => ({}) }`, {
      checkIsolation: isolation => {
        expect(isolation).toEqual(toIsolation({ landlock: 1, missing: [] }))
        throw new Error('not isolated')
      },
    })
    await expect(open).rejects.toThrow('not isolated')
    expect(its.logged).toEqual([])
  })

  it.each([
    ['throws', `throw new Error('no model')`, 'no model'],
    ['throws no error', `throw 'a word'`, 'a word'],
    [
      'has a view that is none',
      `return { view: { format: 'XYZ' }, process: () => ({}) }`,
      '/view/format',
    ],
  ])('does not open when it %s, which is not a crash', async (_, open, reason) => {
    await expect(openWith(open)).rejects.toThrow(reason)
    expect(its.crashes).toEqual([])
  })

  it('shortens what it reports about itself, and removes control characters', async () => {
    const reason = await failWith(`() => { throw new Error('\\u001b[2J' + 'x'.repeat(100_000)) }`)
    expect(reason).toBe(` [2J${'x'.repeat(496)}`)
  })

  it('reports an error of a frame, which is not a crash', async () => {
    expect(await failWith(`() => { throw new Error('boom') }`)).toMatch(
      /^boom \(element\.ts:2:\d+\)$/,
    )
    expect(its.crashes).toEqual([])
  })

  it.each<[does: string, process: string, reason: RegExp, timeouts?: ElementTimeouts]>([
    ['ends its process', '() => process.exit(3)', /process has ended with exit code 3/],
    ['aborts', '() => process.abort()', /process was ended by SIGABRT/],
    ['kills itself', `() => process.kill(process.pid, 'SIGSEGV')`, /process was ended by SIGSEGV/],
    [
      'throws beside its promise',
      `() => new Promise(() => setImmediate(() => { throw new Error('stray') }))`,
      /stray/,
    ],
    ['hangs', '() => { for (;;); }', /no answer within 1 s/, impatient],
    ['never answers', '() => new Promise(() => {})', /no answer within 1 s/, impatient],
    [
      'uses all memory',
      '() => { const all = []; for (;;) all.push(Buffer.alloc(2 ** 20, 1)) }',
      /MiB of memory/,
    ],
    [
      'fills its heap',
      '() => { const all = []; for (;;) all.push(Array(1_000_000).fill(all.length)) }',
      /MiB of memory/,
    ],
    [
      'reports a flood of events',
      `() => ({ events: Array(10_000).fill({ type: 'x' }) })`,
      /10000 events for a frame, more than 100/,
    ],
    [
      'returns a flood of objects',
      `f => ({ objects: Array(5000).fill(f.objects[0]) })`,
      /5000 objects for a frame/,
    ],
    [
      'returns a huge result',
      `() => ({ events: [{ type: 'x'.repeat(2 ** 21) }] })`,
      /message of \d+ bytes, more than 1048576/,
    ],
    [
      'logs without end',
      `async () => { for (;;) { console.log('x'.repeat(10_000)); await new Promise(setImmediate) } }`,
      /more than 256 KiB of log per second/,
    ],
  ])('crashes, and is killed, when it %s', async (_, process, reason, timeouts = patient) => {
    expect(await failWith(process, { timeouts })).toMatch(reason)
    expect(its.crashes).toEqual([expect.stringMatching(reason)])
  })

  const forging = (bytes: string) =>
    `async () => { const { Socket } = await import('node:net')
      const { writeSync } = await import('node:fs'); writeSync(3, ${bytes}); return new Promise(() => {}) }`
  const message = (kind: number, body: string) =>
    `Buffer.concat([Buffer.from([${body.length}, 0, 0, 0, ${kind}]), Buffer.from('${body}')])`
  it.each([
    [
      'an answer of another kind',
      message(1, '{"type":"opened"}'),
      /answers in place of the engine/,
    ],
    ['a message that is not JSON', message(1, '{{'), /answers in place of the engine/],
    ['a log entry as an answer', message(1, '{"type":"log","level":"info"}'), /answers in place/],
    [
      'a log entry of another level',
      message(2, '{"type":"log","level":"fatal"}'),
      /answers in place/,
    ],
    ['a message of an unknown kind', message(7, '{}'), /unknown kind 7/],
    [
      'a message without end',
      'Buffer.from([255, 255, 255, 255, 1])',
      /message of 4294967295 bytes/,
    ],
    [
      'two answers',
      `Buffer.concat(Array(2).fill(${message(1, '{"type":"overwritten"}')}))`,
      /answers in place|dropped/,
    ],
  ])('is killed when it sends %s', async (_, bytes, reason) => {
    const opened = await openWith(`return { process: ${forging(bytes)} }`)
    await expect(opened.process(frame(1))).rejects.toThrow()
    await vi.waitFor(() => expect(its.crashes).toHaveLength(1), { timeout: 60_000 })
    expect(its.crashes[0]).toMatch(reason)
  })

  it('cannot use what the engine has not granted, and learns nothing about it', async () => {
    const secret = join(its.folder, 'secret')
    writeFileSync(secret, 'content')
    const victim = spawn('/bin/sleep', ['600'])
    onTestFinished(() => void victim.kill('SIGKILL'))
    const attacks = {
      'reads secrets': `readFileSync('${secret}')`,
      'reads rings by name': `readFileSync('${its.ring.path}')`,
      'lists files': `readdirSync('${its.folder}')`,
      'reads accounts': `readFileSync('/etc/passwd')`,
      'reads the environment of the engine': `readFileSync('/proc/' + process.ppid + '/environ')`,
      'writes a file': `writeFileSync('/tmp/eyrie-hostile-element', '')`,
      'changes its package': `writeFileSync('${join(its.folder, 'probe/element.ts')}', '')`,
      'starts a program': `execFileSync('/bin/true')`,
      'starts threads': `new Worker('', { eval: true })`,
      'kills a process': `process.kill(${victim.pid}, 'SIGKILL')`,
      'opens a connection': `await new Promise((ok, no) => connect(9, '127.0.0.1').on('connect', ok).on('error', no))`,
      'resolves a name': `await lookup('localhost')`,
    }
    const attempts = Object.entries(attacks).map(
      ([name, attack]) => `
        try { ${attack}; outcome['${name}'] = 'done' }
        catch (error: any) { outcome['${name}'] = error.code }`,
    )
    const module = `
      import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
      import { execFileSync } from 'node:child_process'
      import { Worker } from 'node:worker_threads'
      import { connect } from 'node:net'
      import { lookup } from 'node:dns/promises'`
    const result = await processOnce(
      `async () => {
        const outcome: any = { environment: Object.keys(process.env).length }
        ${attempts.join('')}
        return { events: [{ type: 'outcome', outcome }] }
      }`,
      { module },
    )
    expect(result.events?.[0]).toEqual({
      type: 'outcome',
      outcome: {
        environment: 0,
        ...Object.fromEntries(
          Object.keys(attacks).map(name => [
            name,
            expect.stringMatching(/ACCESS|PERM|ENOENT|EAI_AGAIN/),
          ]),
        ),
      },
    })
    expect(victim.exitCode ?? victim.signalCode).toBe(null)
    expect(readFileSync(secret, 'utf8')).toBe('content')
  })

  it('cannot use more with native code in its package', async () => {
    const secret = join(its.folder, 'secret')
    writeFileSync(secret, 'content')
    const victim = spawn('/bin/sleep', ['600'])
    onTestFinished(() => void victim.kill('SIGKILL'))
    writePlugin(its.folder, {})
    const include = resolve(process.execPath, '../../include/node')
    const addon = join(its.folder, 'probe/attacks.node')
    const source = resolve(import.meta.dirname, 'native-attacks.fixture.c')
    execFileSync('gcc', ['-shared', '-fPIC', '-isystem', include, '-o', addon, source], {
      stdio: 'pipe',
    })

    const module = `import { createRequire } from 'node:module'
      const { attack } = createRequire(import.meta.url)('./attacks.node')`
    its.ring.write(1, new Uint8Array(8))
    const opened = await openWith(
      `return {
        view: ${JSON.stringify(view)},
        process: () => ({ events: [{ type: 'outcome', text: attack(${victim.pid}, '${secret}') }] }),
      }`,
      { module, needsPixels: true },
    )
    const result = await opened.process(frame(1))
    const outcomes = String(result.events?.[0]?.text).trim().split('\n')
    expect(outcomes).toHaveLength(12)
    // EPERM, EACCES
    expect(outcomes.filter(outcome => !/: (1|13)$/.test(outcome))).toEqual([])
    expect(victim.exitCode ?? victim.signalCode).toBe(null)
  })

  it('shows its log at a limited rate', async () => {
    await processOnce(
      `() => { for (let i = 0; i < 1000; i++) setup.log.info({ i }, 'entry'); return {} }`,
    )
    const entries = its.logged.filter(([, , text]) => text === 'entry')
    expect(entries.length).toBeGreaterThanOrEqual(100)
    expect(entries.length).toBeLessThan(200)
  })
})
