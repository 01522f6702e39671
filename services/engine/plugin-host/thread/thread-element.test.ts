import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { viewSpec } from '@eyrie/contract/view'
import type { Element } from '@eyrie/element'
import { FrameDroppedError } from '@eyrie/element/inference'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createElementFrame as frame } from '../../../../test/fixtures/engine/element-frame.ts'
import { writePlugin } from '../../../../test/fixtures/engine/test-plugin.ts'
import { createTestRing, type TestRing } from '../../../../test/fixtures/media/test-ring.ts'
import { blockThread } from '../../../../test/fixtures/processes/block-thread.ts'
import { impatient, patient } from '../protocol/element-timeouts.fixture.ts'
import type { ElementTimeouts } from '../protocol/remote-element.ts'
import { openElementThread } from './thread-element.ts'

const view = viewSpec.parse({ format: 'GRAY8', width: 4, height: 2 })

let folder: string
let ring: TestRing
let element: Element | undefined
let logged: [fields: object, message: string][]
let costs: number[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-plugins-'))
  ring = createTestRing(join(folder, 'view.ring'), {
    width: 4,
    height: 2,
    format: 'GRAY8',
    payloadSize: 8,
  })
  logged = []
  costs = []
})
afterEach(() => {
  element?.close?.()
  element = undefined
  ring.close()
  rmSync(folder, { recursive: true })
})

interface TestElementOptions {
  needsPixels?: boolean
  module?: string
  members?: string
  timeouts?: ElementTimeouts
}

/** Opens an element with this body of `open(setup)` in a thread. */
async function openWith(
  open: string,
  { needsPixels = false, module, members, timeouts = patient }: TestElementOptions = {},
): Promise<Element> {
  writePlugin(folder, { open, module, members })
  const record = (fields: object, message: string) => void logged.push([fields, message])
  const source = {
    entry: join(folder, 'probe/element.ts'),
    name: 'probe',
    setup: { args: { step: 2 }, config: undefined, source: { id: 1 }, size: undefined },
  }
  const options = {
    source,
    needsPixels,
    findRing: () => ({ path: ring.path, generation: ring.generation }),
    onCost: (ms: number) => costs.push(ms),
    log: { debug: record, info: record, warn: record, error: record },
  }
  element = await openElementThread(options, timeouts)
  return element
}

describe('element in a thread', () => {
  it('is opened with its setup and returns its results', async () => {
    const opened = await openWith(`
      let sum = 0
      return {
        metadata: { source: setup.source.id },
        process: (frame: any) => ({ objects: [], counters: { seen: { sum: (sum += setup.args.step) } } }),
      }`)
    expect(opened.metadata).toEqual({ source: 1 })
    await opened.process(frame(1))
    expect(await opened.process(frame(2))).toEqual({ objects: [], counters: { seen: { sum: 4 } } })
  })

  it('receives arguments as its schema returns them', async () => {
    const opened = await openWith(
      `return { metadata: { steps: setup.args.step }, process: () => ({}) }`,
      {
        module: `import { z } from '@eyrie/element'`,
        members: `args: z.strictObject({ step: z.number().transform(step => [step]) }),`,
      },
    )
    expect(opened.metadata).toEqual({ steps: [2] })
  })

  it('does not open with arguments that a refinement of its schema rejects', async () => {
    const opening = openWith(`return { process: () => ({}) }`, {
      module: `import { z } from '@eyrie/element'`,
      members: `args: z.strictObject({ step: z.number().refine(step => step % 2, 'must be odd') }),`,
    })
    await expect(opening).rejects.toThrow('/args/step: must be odd')
  })

  it('reports the CPU time of each frame without waiting time', async () => {
    const opened = await openWith(`return {
      process: async (frame: any) => {
        if (frame.n === 1) await new Promise(done => setTimeout(done, 100))
        else for (let i = 0; i < 3e7; i++) Math.sqrt(i)
        return {}
      },
    }`)
    await opened.process(frame(1))
    await opened.process(frame(2))
    const [waited, computed] = costs
    expect(waited).toBeLessThan(computed!)
    expect(costs).toHaveLength(2)
  })

  it("reads its view's picture from the ring", async () => {
    const opened = await openWith(
      `return {
        view: ${JSON.stringify(view)},
        process: (frame: any, { width, height, format, content, data }: any) =>
          ({ events: [{ type: 'picture', width, height, format, content, bytes: [...data] }] }),
      }`,
      { needsPixels: true },
    )
    ring.write(5, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8))
    expect(await opened.process(frame(5))).toEqual({
      events: [
        {
          type: 'picture',
          width: 4,
          height: 2,
          format: 'GRAY8',
          content: { x: 0, y: 0, width: 4, height: 2 },
          bytes: [1, 2, 3, 4, 5, 6, 7, 8],
        },
      ],
    })
  })

  it('drops a frame that is no longer in the ring', async () => {
    const opened = await openWith(`return { view: ${JSON.stringify(view)}, process: () => ({}) }`, {
      needsPixels: true,
    })
    ring.write(9, new Uint8Array(8))
    await expect(opened.process(frame(5))).rejects.toBeInstanceOf(FrameDroppedError)
    expect(await opened.process(frame(9))).toEqual({})
  })

  it('forwards its log', async () => {
    await openWith(`setup.log.warn({ level: 3 }, 'low light'); return { process: () => ({}) }`)
    expect(logged).toContainEqual([{ level: 3 }, 'low light'])
  })

  it('has no access to environment variables', async () => {
    const opened = await openWith(
      `return { process: () => ({ events: [{ type: 'seen', names: Object.keys(process.env) }] }) }`,
    )
    expect(await opened.process(frame(1))).toEqual({ events: [{ type: 'seen', names: [] }] })
  })

  it.each([
    ['throws', `throw new Error('no model')`, 'no model'],
    ['throws no error', `throw 'a word'`, 'a word'],
    [
      'has a view that is none',
      `return { view: { format: 'XYZ' }, process: () => ({}) }`,
      '/view/format',
    ],
  ])('does not open when it %s', async (_, open, reason) => {
    await expect(openWith(open)).rejects.toThrow(reason)
  })

  it('may take longer to load than to open or process', async () => {
    const opened = await openWith(
      `return { process: () => ({ counters: { seen: { pts: loaded } } }) }`,
      {
        module: `const loaded = await new Promise<number>(done => setTimeout(done, 3000, 1))`,
        timeouts: { loadMs: 60_000, openMs: 2000, processMs: 2000 },
      },
    )
    expect(await opened.process(frame(1))).toEqual({ counters: { seen: { pts: 1 } } })
  })

  it.each<[when: string, code: { open?: string; module?: string }, reason: string]>([
    ['loads', { module: 'for (;;);' }, 'not loaded within 2 s'],
    ['opens', { open: 'for (;;);' }, 'not opened within 2 s'],
    [
      'loads, waiting',
      { module: 'await new Promise(() => setInterval(() => {}))' },
      'not loaded within 2 s',
    ],
    ['opens, waiting', { open: 'return new Promise(() => {})' }, 'not opened within 2 s'],
  ])('is found out when it hangs while it %s', async (_, { open = '', module = '' }, reason) => {
    const timeouts = { loadMs: module ? 2000 : 60_000, openMs: 2000, processMs: 2000 }
    await expect(openWith(open, { module, timeouts })).rejects.toThrow(reason)
  })

  it('is closed and its thread ends if its view is invalid', async () => {
    const closes = `close: () => setup.log.info({}, 'closed')`
    await expect(
      openWith(`return { view: { format: 'XYZ' }, process: () => ({}), ${closes} }`),
    ).rejects.toThrow()
    await expect.poll(() => logged).toContainEqual([{}, 'closed'])
  })

  it.each([
    ['throws', `() => { throw new Error('boom') }`, 'boom'],
    ['ends its thread', `() => process.exit(3)`, 'its thread has ended'],
    [
      'throws beside its promise',
      `() => new Promise(() => setImmediate(() => { throw new Error('stray') }))`,
      'stray',
    ],
    [
      'writes into a log of another level',
      `async () => (await import('node:worker_threads')).parentPort!.postMessage({ type: 'log', level: 'fatal' })`,
      'it answers in place of the engine',
    ],
    ['hangs', `() => { for (;;); }`, 'no answer within 1 s'],
  ])('fails, and ends its thread, when it %s', async (_, process, reason) => {
    const timeouts = reason.startsWith('no answer') ? impatient : patient
    const opened = await openWith(`return { process: ${process} }`, { timeouts })
    await expect(opened.process(frame(1))).rejects.toThrow(reason)
    await expect(opened.process(frame(2))).rejects.toThrow()
  })

  it('does not fail if it has answered while the thread of the engine was blocked', async () => {
    const opened = await openWith('return { process: () => ({}) }', { timeouts: impatient })
    const result = opened.process(frame(1))
    // Timers are due first after this, before messages are received.
    setImmediate(() => blockThread(1500))
    expect(await result).toEqual({})
    expect(await opened.process(frame(2))).toEqual({})
  })

  it('ends when its buffers have grown too large', async () => {
    const opened = await openWith(`
      const all: unknown[] = []
      return { process: (f: any) => { if (f.n <= 6) all.push(new ArrayBuffer(100 * 2 ** 20)); return {} } }`)
    for (let n = 1; n <= 5; n += 1) await opened.process(frame(n))
    // The memory may be checked before the answer for the sixth frame arrives.
    let n = 5
    const outcome = async () =>
      Promise.resolve(opened.process(frame(++n))).then(String, error => error.message)
    await expect
      .poll(outcome, { timeout: 60_000 })
      .toMatch(/^it uses 6\d\d MiB of memory for buffers, more than 512$/)
  })

  it('ends when its heap is full', async () => {
    const fill = '() => { const all = []; for (;;) all.push(Array(1_000_000).fill(all.length)) }'
    const opened = await openWith(`return { process: ${fill} }`)
    await expect(opened.process(frame(1))).rejects.toThrow(
      'it uses more than 512 MiB of memory for objects',
    )
  })
})
