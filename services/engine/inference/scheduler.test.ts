import { FrameDroppedError } from '@eyrie/element'
import { describe, expect, it } from 'vitest'
import { type FrameQueueOptions, Scheduler } from './scheduler.ts'

/** A scheduler whose workers are names and whose frames finish on request. */
function setUp(workers: string[]) {
  const scheduler = new Scheduler<string>()
  const running: { frame: string; worker: string; end(): void }[] = []
  const started: string[] = []

  const begin = (frame: string) => (worker: string) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    started.push(frame)
    running.push({ frame, worker, end: () => resolve(frame) })
    return promise
  }
  const openQueue = (name: string, options: Partial<FrameQueueOptions<string>> = {}) => {
    const queue = scheduler.openQueue({
      mode: 'a',
      pacing: 'realtime',
      priority: () => 5,
      canRunOn: () => true,
      ...options,
    })
    return {
      submit: (n: number) => queue.submit(n, begin(`${name}${n}`)).catch(error => error),
      close: () => queue.close(new Error(`${name} is closed`)),
    }
  }
  /** Finishes the frame that started first and lets the next ones start. */
  const endOne = async () => {
    running.shift()?.end()
    await new Promise(resolve => setImmediate(resolve))
  }
  for (const worker of workers) scheduler.addWorker(worker)
  return { scheduler, openQueue, running, started, endOne }
}

describe('scheduler', () => {
  it('keeps every worker busy with the frames of one channel', () => {
    const { openQueue, running } = setUp(['w1', 'w2', 'w3'])
    const camera = openQueue('a')
    for (const n of [1, 2, 3, 4]) camera.submit(n)
    expect(running.map(({ worker }) => worker)).toEqual(['w1', 'w2', 'w3'])
  })

  it('replaces a waiting frame by a newer frame', async () => {
    const { openQueue, started, endOne } = setUp(['w1'])
    const camera = openQueue('a')
    const [first, second, third] = [1, 2, 3].map(n => camera.submit(n))
    await endOne()
    expect(started).toEqual(['a1', 'a3'])
    expect(await first).toBe('a1')
    expect(await second).toBeInstanceOf(FrameDroppedError)
    await endOne()
    expect(await third).toBe('a3')
  })

  it('does not replace a waiting frame by an older frame', async () => {
    const { openQueue } = setUp(['w1'])
    const camera = openQueue('a')
    camera.submit(1)
    camera.submit(3)
    expect(await camera.submit(2)).toBeInstanceOf(FrameDroppedError)
  })

  it('runs every frame in order with pacing all', async () => {
    const { openQueue, started, endOne } = setUp(['w1'])
    const file = openQueue('f', { pacing: 'all' })
    for (const n of [1, 2, 3, 4]) file.submit(n)
    for (let i = 0; i < 4; i++) await endOne()
    expect(started).toEqual(['f1', 'f2', 'f3', 'f4'])
  })

  it('lets channels take turns regardless of their number of frames', async () => {
    const { openQueue, started, endOne } = setUp(['w1'])
    const [busy, calm] = [openQueue('b', { pacing: 'all' }), openQueue('c', { pacing: 'all' })]
    for (const n of [1, 2, 3, 4, 5]) busy.submit(n)
    for (const n of [1, 2]) calm.submit(n)
    for (let i = 0; i < 6; i++) await endOne()
    expect(started).toEqual(['b1', 'b2', 'c1', 'b3', 'c2', 'b4', 'b5'])
  })

  it('assigns a busy worker one frame in advance with pacing all', async () => {
    const { openQueue, started, endOne } = setUp(['w1'])
    const file = openQueue('f', { pacing: 'all' })
    for (const n of [1, 2, 3]) file.submit(n)
    expect(started).toEqual(['f1', 'f2'])
    await endOne()
    expect(started).toEqual(['f1', 'f2', 'f3'])
  })

  it('lets a live channel take turns with a file that is read at full speed', async () => {
    const { openQueue, started, endOne } = setUp(['w1'])
    const [file, live] = [openQueue('f', { pacing: 'all' }), openQueue('l')]
    for (const n of [1, 2, 3, 4]) file.submit(n)
    live.submit(1)
    for (let i = 0; i < 5; i++) await endOne()
    expect(started).toEqual(['f1', 'f2', 'l1', 'f3', 'f4'])
  })

  it('reserves one worker for a channel of mode s', async () => {
    const { openQueue, started, endOne, running } = setUp(['w1', 'w2'])
    const [throughput, latency] = [openQueue('a', { pacing: 'all' }), openQueue('s', { mode: 's' })]
    for (const n of [1, 2, 3]) throughput.submit(n)
    expect(started).toEqual(['a1'])
    latency.submit(1)
    expect(started).toEqual(['a1', 's1'])
    latency.submit(2)
    await endOne()
    expect(started).toEqual(['a1', 's1', 's2'])
    latency.close()
    await endOne()
    await endOne()
    expect(running.map(({ frame }) => frame)).toEqual(['a2', 'a3'])
  })

  it('serves mode s before mode a with a single worker', async () => {
    const { openQueue, started, endOne } = setUp(['w1'])
    const [throughput, latency] = [openQueue('a', { pacing: 'all' }), openQueue('s', { mode: 's' })]
    for (const n of [1, 2]) throughput.submit(n)
    latency.submit(1)
    for (let i = 0; i < 2; i++) await endOne()
    expect(started).toEqual(['a1', 's1', 'a2'])
  })

  it('assigns frames only to workers that can run them', async () => {
    const { openQueue, running, endOne } = setUp(['w1', 'w2'])
    const camera = openQueue('a', { canRunOn: worker => worker === 'w2' })
    for (const n of [1, 2]) camera.submit(n)
    expect(running.map(({ worker }) => worker)).toEqual(['w2'])
    await endOne()
    expect(running.map(({ worker }) => worker)).toEqual(['w2'])
  })

  it('runs a job before waiting frames', async () => {
    const { scheduler, openQueue, started, endOne } = setUp(['w1'])
    const camera = openQueue('a')
    for (const n of [1, 2]) camera.submit(n)
    scheduler.runOn('w1', async () => void started.push('job'))
    await endOne()
    expect(started).toEqual(['a1', 'job', 'a2'])
  })

  it('continues after a failed frame', async () => {
    const { scheduler, started, openQueue } = setUp(['w1'])
    const failing = scheduler.openQueue({
      mode: 'a',
      pacing: 'all',
      priority: () => 5,
      canRunOn: () => true,
    })
    await expect(failing.submit(1, () => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    )
    openQueue('a').submit(1)
    expect(started).toEqual(['a1'])
  })

  it('rejects the frames of a closed queue and the jobs of a removed worker', async () => {
    const { scheduler, openQueue } = setUp(['w1'])
    const camera = openQueue('a')
    camera.submit(1)
    const waiting = camera.submit(2)
    const job = scheduler.runOn('w1', async () => {})
    camera.close()
    scheduler.removeWorker('w1', new Error('the worker exited'))
    expect(await waiting).toMatchObject({ message: 'a is closed' })
    expect(await camera.submit(3)).toMatchObject({ message: 'a is closed' })
    await expect(job).rejects.toThrow('the worker exited')
  })

  it('lets a worker that is retired finish its frame, and assigns it no other', async () => {
    const { scheduler, openQueue, running, endOne } = setUp(['w1', 'w2'])
    const camera = openQueue('a', { pacing: 'all' })
    camera.submit(1)
    let isRetired = false
    void scheduler.retireWorker('w1').then(() => {
      isRetired = true
    })
    for (const n of [2, 3]) camera.submit(n)
    expect(running.map(({ frame, worker }) => `${frame} on ${worker}`)).toEqual([
      'a1 on w1',
      'a2 on w2',
      'a3 on w2',
    ])
    expect(isRetired).toBe(false)
    await endOne()
    expect(isRetired).toBe(true)
  })

  it('serves higher priorities first and lower priorities with the remaining capacity', async () => {
    const { openQueue, started, endOne } = setUp(['w1'])
    const yields: string[] = []
    const low = openQueue('low', { priority: () => 1, onYield: () => yields.push('low') })
    const high = openQueue('high', { priority: () => 9, onYield: () => yields.push('high') })
    for (let n = 1; n <= 5; n++) {
      low.submit(n)
      high.submit(n)
      await endOne()
    }
    expect(started).toEqual(['low1', 'high1', 'high2', 'high3', 'high4', 'high5'])
    expect(yields).toEqual(['low', 'low', 'low'])
    await endOne()
    expect(started.at(-1)).toBe('low5')
  })

  it('shares workers evenly among equal priorities', async () => {
    const { openQueue, started, endOne } = setUp(['w1', 'w2'])
    const queues = ['a', 'b', 'c', 'd', 'e'].map(name => openQueue(name))
    for (let n = 1; n <= 100; n++) {
      for (const { submit } of queues) submit(n)
      await endOne()
      await endOne()
    }
    const shares = [...Map.groupBy(started, frame => frame[0]).values()].map(
      frames => frames.length,
    )
    expect(shares).toHaveLength(5)
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
  })

  it('follows changes of priority', async () => {
    const { openQueue, started, endOne } = setUp(['w1'])
    let priority = 1
    const [one, other] = [openQueue('one', { priority: () => priority }), openQueue('other')]
    for (const n of [1, 2]) one.submit(n)
    other.submit(1)
    priority = 9
    await endOne()
    expect(started).toEqual(['one1', 'one2'])
  })

  it('does not report yielding among equal priorities', async () => {
    const { openQueue, endOne } = setUp(['w1'])
    const onYield = () => expect.unreachable('they are equal')
    const queues = ['a', 'b', 'c'].map(name => openQueue(name, { onYield }))
    for (let n = 1; n <= 6; n++) {
      for (const { submit } of queues) submit(n)
      await endOne()
    }
  })

  it('reserves no worker if the other queue has a higher priority than mode s', () => {
    const { openQueue, running } = setUp(['w1', 'w2'])
    openQueue('s', { mode: 's', priority: () => 2 })
    const high = openQueue('high', { priority: () => 8 })
    for (const n of [1, 2]) high.submit(n)
    expect(running.map(({ worker }) => worker)).toEqual(['w1', 'w2'])
  })

  it('assigns no frame in advance while a queue of higher priority exists', () => {
    const { openQueue, started } = setUp(['w1'])
    openQueue('live', { priority: () => 6 })
    const file = openQueue('f', { pacing: 'all' })
    for (const n of [1, 2]) file.submit(n)
    expect(started).toEqual(['f1'])
  })
})
