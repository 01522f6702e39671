import { describe, expect, it } from 'vitest'
import { createSourceBufferQueue } from './source-buffer-queue.ts'

interface Numbered {
  n: number
  isKeyframe: boolean
}

/**
 * Behaves like a browser's source buffer: it updates after each append until `done`, and is
 * full while `room` is 0.
 */
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
  const calls: (number[] | 'idle')[] = []
  const buffer = createBuffer()
  const queue = createSourceBufferQueue<Numbered>({
    onAppended: fragments => calls.push(fragments.map(({ n }) => n)),
    onIdle: () => calls.push('idle'),
    onFull,
    onError: error => {
      throw error
    },
  })
  const append = (n: number, isKeyframe = false) =>
    queue.append(new Uint8Array([n]).buffer, { n, isKeyframe: isKeyframe || n === 0 })
  return {
    buffer,
    queue,
    append,
    calls,
    attach: () => queue.attach(buffer as unknown as SourceBuffer),
  }
}

describe('source buffer queue', () => {
  it('appends queued fragments together and reports when it is idle', () => {
    const { buffer, append, calls, attach } = setUp()
    for (const n of [0, 1, 2]) append(n)
    attach()
    for (const n of [3, 4]) append(n)
    buffer.done()
    buffer.done()
    expect(buffer.appended).toEqual([
      [0, 1, 2],
      [3, 4],
    ])
    expect(calls).toEqual([[0, 1, 2], [3, 4], 'idle'])
  })

  it('runs other operations in order between appends', () => {
    const { buffer, queue, append, attach } = setUp()
    append(0)
    queue.enqueue(() => buffer.appended.push([-1]))
    append(1)
    attach()
    buffer.done()
    expect(buffer.appended).toEqual([[0], [-1], [1]])
  })

  it('retries an append when a full buffer has room again', () => {
    const { buffer, queue, append, attach } = setUp({
      onFull: () =>
        queue.runNext(full => {
          buffer.room = 1
          expect(full.updating).toBe(false)
        }),
    })
    buffer.room = 0
    attach()
    append(0)
    expect(buffer.appended).toEqual([[0]])
  })

  it('drops a fragment that does not fit and all that depend on it', () => {
    const { buffer, queue, append, attach } = setUp({
      onFull: () => {
        queue.skipToKeyframe()
        buffer.room = 1
      },
    })
    buffer.room = 0
    for (const n of [0, 1, 2]) append(n)
    attach()
    for (const n of [3, 4]) append(n)
    expect(buffer.appended).toEqual([])
    append(5, true)
    buffer.done()
    append(6)
    expect(buffer.appended).toEqual([[5], [6]])
  })

  it('queues no more than a group of pictures while the browser accepts nothing', () => {
    const { buffer, queue, attach } = setUp()
    const appendLarge = (n: number, isKeyframe: boolean) =>
      queue.append(new Uint8Array(3 << 20).fill(n).buffer, { n, isKeyframe })
    for (let n = 0; n < 12; n++) appendLarge(n, n % 6 === 0)
    appendLarge(12, true)
    attach()
    expect(buffer.appended.map(([first]) => first)).toEqual([12])
  })
})
