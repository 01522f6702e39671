import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Element } from '@eyrie/element'
import { afterEach, expect, it } from 'vitest'
import { createElementFrame as frame } from '../../../../test/fixtures/engine/element-frame.ts'
import { writePythonPlugin } from '../../../../test/fixtures/engine/python-plugin.ts'
import { writePlugin } from '../../../../test/fixtures/engine/test-plugin.ts'
import type { OpenedElement } from '../protocol/remote-element.ts'
import { useSandbox } from './sandboxed-element.fixture.ts'

const its = useSandbox()
const opened: Element[] = []
afterEach(() => {
  for (const element of opened.splice(0)) element.close?.()
})

/** Opens the element in a process of its own, next to the ones of other elements. */
async function open(entry: string): Promise<OpenedElement> {
  const element = await its.open(entry, {})
  opened.push(element)
  return element
}

async function openTypeScript(step: number): Promise<OpenedElement> {
  writePlugin(its.folder, {})
  const code = `
    import { defineElement, definePlugin, z } from '@eyrie/element'
    const probe = defineElement({
      args: z.strictObject({}),
      state: () => ({ total: 0, frames: new Set<number>() }),
      process({ n }, { state, clock }) {
        state.frames.add(n)
        state.total += ${step}
        const { seconds } = clock
        return { counters: { seen: { total: state.total, frames: state.frames.size, seconds } } }
      },
    })
    export default definePlugin({ probe })`
  writeFileSync(join(its.folder, 'probe/element.ts'), code)
  return open('element.ts')
}

async function openPython(step: number): Promise<OpenedElement> {
  const code = `
from dataclasses import dataclass, field
from eyrie_element import Element, ElementDefinition, NoArgs, Result

@dataclass
class State:
    total: int = 0
    frames: dict[int, bool] = field(default_factory=dict)

class Probe(Element):
    def __init__(self, context):
        self.state = State()
        self.clock = context.clock

    def process(self, frame):
        self.state.frames[frame.n] = True
        self.state.total += ${step}
        return Result(counters={'seen': {
            'total': self.state.total,
            'frames': len(self.state.frames),
            'seconds': self.clock.seconds,
        }})

elements = {'probe': ElementDefinition(Probe, args=NoArgs)}
`
  writePythonPlugin(its.folder, { code })
  return open('element.py')
}

it.each([
  ['TypeScript', openTypeScript],
  ['Python', openPython],
])('new code in %s continues with the state of the code that it replaces', async (_, openWith) => {
  const old = await openWith(1)
  for (const n of [1, 2]) await old.process(frame(n))
  const next = await openWith(10)
  const { state } = await old.remoteState.save()
  expect(await next.remoteState.restore(state!)).toBeUndefined()
  expect(await next.process(frame(3))).toMatchObject({
    counters: { seen: { total: 12, frames: 3 } },
  })
})

it.each([
  ['TypeScript', openTypeScript],
  ['Python', openPython],
])(
  'the stream time of new code in %s continues after a restart of the media service',
  async (_, openWith) => {
    const old = await openWith(1)
    await old.process(frame(1000))
    await old.process({ ...frame(25), discontinuity: true })
    const next = await openWith(1)
    const { state } = await old.remoteState.save()
    await next.remoteState.restore(state!)
    // The times of the state are later than the timestamps of the frames.
    expect(await next.process(frame(50))).toMatchObject({ counters: { seen: { seconds: 41 } } })
  },
)

it('a state of code in another language is not kept', async () => {
  const [old, next] = [await openTypeScript(1), await openPython(1)]
  for (const [from, to] of [[old, next] as const, [next, old] as const]) {
    const { state } = await from.remoteState.save()
    expect(await to.remoteState.restore(state!)).toMatch(/another language/)
  }
  expect(await next.process(frame(1))).toMatchObject({
    counters: { seen: { total: 1, frames: 1 } },
  })
})

it.each([
  ['longer than is accepted', `'A'.repeat(800_000)`],
  ['not encoded', `'{"frames": 1}'`],
])('a process that sends a state that is %s is ended', async (_, state) => {
  writePlugin(its.folder, {
    module: `
      import { Socket } from 'node:net'
      const write = Socket.prototype.write
      Socket.prototype.write = function (this: Socket, bytes: any) {
        if (!String(bytes).includes('"saved"')) return write.call(this, bytes)
        const body = Buffer.from(JSON.stringify({ type: 'saved', state: ${state} }))
        const header = Buffer.alloc(5)
        header.writeUInt32LE(body.length)
        header[4] = 1
        return write.call(this, Buffer.concat([header, body]) as any)
      } as any`,
  })
  const element = await open('element.ts')
  await expect(element.remoteState.save()).rejects.toThrow('it answers in place of the engine')
  expect(its.crashes).toEqual(['it answers in place of the engine'])
})
