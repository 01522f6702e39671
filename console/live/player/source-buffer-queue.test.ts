import { describe, expect, it } from 'vitest'
import { createSteps } from './source-buffer-queue.ts'

interface Numbered {
  n: number
  keyframe: boolean
}

/** A source buffer as browsers have it: busy after each append until `done`, and full while `room` is 0. */
function createBuffer() {
  const target = new EventTarget()
  const appended: number[][] = []
  return Object.assign(target, {
    updating: false,
    room: Number.POSITIVE_INFINITY,
    appended,
    appendBuffer(bytes: ArrayBuffer | Uint8Array) {
      if (this.room === 0) throw new DOMException('full', 'QuotaExceededError')
      appended.push([...new Uint8Array(bytes instanceof Uint8Array ? bytes.buffer : bytes)])
      this.updating = true
    },
    done() {
      this.updating = false
      target.dispatchEvent(new Event('updateend'))
    },
  })
}

function setUp({ onFull = () => {} } = {}) {
  const told: (number[] | 'idle')[] = []
  const buffer = createBuffer()
  const steps = createSteps<Numbered>({
    onAppended: fragments => told.push(fragments.map(({ n }) => n)),
    onIdle: () => told.push('idle'),
    onFull,
    onError: error => {
      throw error
    },
  })
  const append = (n: number, keyframe = false) =>
    steps.append(new Uint8Array([n]).buffer, { n, keyframe: keyframe || n === 0 })
  return { buffer, steps, append, told, begin: () => steps.begin(buffer as unknown as SourceBuffer) }
}

describe('the steps of a source buffer', () => {
  it('hand over together what has come together, and tell when nothing waits any more', () => {
    const { buffer, append, told, begin } = setUp()
    for (const n of [0, 1, 2]) append(n)
    begin()
    for (const n of [3, 4]) append(n)
    buffer.done()
    buffer.done()
    expect(buffer.appended).toEqual([
      [0, 1, 2],
      [3, 4],
    ])
    expect(told).toEqual([[0, 1, 2], [3, 4], 'idle'])
  })

  it('do things in between where they belong', () => {
    const { buffer, steps, append, begin } = setUp()
    append(0)
    steps.add(() => buffer.appended.push([-1]))
    append(1)
    begin()
    buffer.done()
    expect(buffer.appended).toEqual([[0], [-1], [1]])
  })

  it('try again what found no room, when there is some', () => {
    const { buffer, steps, append, begin } = setUp({
      onFull: () =>
        steps.next(full => {
          buffer.room = 1
          expect(full.updating).toBe(false)
        }),
    })
    buffer.room = 0
    begin()
    append(0)
    expect(buffer.appended).toEqual([[0]])
  })

  it('leave out what finds no room and all that needs it', () => {
    const { buffer, steps, append, begin } = setUp({
      onFull: () => {
        steps.skipToKeyframe()
        buffer.room = 1
      },
    })
    buffer.room = 0
    for (const n of [0, 1, 2]) append(n)
    begin()
    for (const n of [3, 4]) append(n)
    expect(buffer.appended).toEqual([])
    append(5, true)
    buffer.done()
    append(6)
    expect(buffer.appended).toEqual([[5], [6]])
  })

  it('keep no more than a group of pictures while the browser takes nothing', () => {
    const { buffer, steps, begin } = setUp()
    const large = (n: number, keyframe: boolean) =>
      steps.append(new Uint8Array(3 << 20).fill(n).buffer, { n, keyframe })
    for (let n = 0; n < 12; n++) large(n, n % 6 === 0)
    large(12, true)
    begin()
    expect(buffer.appended.map(([first]) => first)).toEqual([12])
  })
})
