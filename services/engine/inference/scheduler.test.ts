import { FrameDroppedError } from '@eyrie/element'
import { describe, expect, it } from 'vitest'
import { createScheduler, type LaneOptions } from './scheduler.ts'

/** A scheduler whose workers are names and whose frames end when they are told to. */
function setUp(workers: string[]) {
  const scheduler = createScheduler<string>()
  const running: { frame: string; worker: string; end(): void }[] = []
  const started: string[] = []

  const begin = (frame: string) => (worker: string) => {
    const { promise, resolve } = Promise.withResolvers<string>()
    started.push(frame)
    running.push({ frame, worker, end: () => resolve(frame) })
    return promise
  }
  const lane = (name: string, options: Partial<LaneOptions<string>> = {}) => {
    const opened = scheduler.open({
      mode: 'a',
      pacing: 'realtime',
      priority: () => 5,
      isReady: () => true,
      ...options,
    })
    return {
      submit: (n: number) => opened.submit(n, begin(`${name}${n}`)).catch(error => error),
      close: () => opened.close(new Error(`${name} is closed`)),
    }
  }
  /** Ends the frame that began first, and lets what follows begin. */
  const endOne = async () => {
    running.shift()?.end()
    await new Promise(resolve => setImmediate(resolve))
  }
  for (const worker of workers) scheduler.add(worker)
  return { scheduler, lane, running, started, endOne }
}

describe('the scheduler', () => {
  it('keeps every worker busy with the frames of one channel', () => {
    const { lane, running } = setUp(['w1', 'w2', 'w3'])
    const camera = lane('a')
    for (const n of [1, 2, 3, 4]) camera.submit(n)
    expect(running.map(({ worker }) => worker)).toEqual(['w1', 'w2', 'w3'])
  })

  it('lets a newer frame take the place of one that waits', async () => {
    const { lane, started, endOne } = setUp(['w1'])
    const camera = lane('a')
    const [first, second, third] = [1, 2, 3].map(n => camera.submit(n))
    await endOne()
    expect(started).toEqual(['a1', 'a3'])
    expect(await first).toBe('a1')
    expect(await second).toBeInstanceOf(FrameDroppedError)
    await endOne()
    expect(await third).toBe('a3')
  })

  it('does not let an older frame take the place of a newer one', async () => {
    const { lane } = setUp(['w1'])
    const camera = lane('a')
    camera.submit(1)
    camera.submit(3)
    expect(await camera.submit(2)).toBeInstanceOf(FrameDroppedError)
  })

  it('runs every frame in order where all are to be seen', async () => {
    const { lane, started, endOne } = setUp(['w1'])
    const file = lane('f', { pacing: 'all' })
    for (const n of [1, 2, 3, 4]) file.submit(n)
    for (let i = 0; i < 4; i++) await endOne()
    expect(started).toEqual(['f1', 'f2', 'f3', 'f4'])
  })

  it('gives the channels turns, however many frames one has', async () => {
    const { lane, started, endOne } = setUp(['w1'])
    const [busy, calm] = [lane('b', { pacing: 'all' }), lane('c', { pacing: 'all' })]
    for (const n of [1, 2, 3, 4, 5]) busy.submit(n)
    for (const n of [1, 2]) calm.submit(n)
    for (let i = 0; i < 6; i++) await endOne()
    expect(started).toEqual(['b1', 'b2', 'c1', 'b3', 'c2', 'b4', 'b5'])
  })

  it('gives a busy worker its next frame where none may be overtaken, and only one', async () => {
    const { lane, started, endOne } = setUp(['w1'])
    const file = lane('f', { pacing: 'all' })
    for (const n of [1, 2, 3]) file.submit(n)
    expect(started).toEqual(['f1', 'f2'])
    await endOne()
    expect(started).toEqual(['f1', 'f2', 'f3'])
  })

  it('lets a file that is read as fast as it can leave a live channel its turns', async () => {
    const { lane, started, endOne } = setUp(['w1'])
    const [file, live] = [lane('f', { pacing: 'all' }), lane('l')]
    for (const n of [1, 2, 3, 4]) file.submit(n)
    live.submit(1)
    for (let i = 0; i < 5; i++) await endOne()
    expect(started).toEqual(['f1', 'f2', 'l1', 'f3', 'f4'])
  })

  it('keeps one worker free for a channel of mode s', async () => {
    const { lane, started, endOne, running } = setUp(['w1', 'w2'])
    const [throughput, latency] = [lane('a', { pacing: 'all' }), lane('s', { mode: 's' })]
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

  it('serves mode s first, and others too, where there is one worker', async () => {
    const { lane, started, endOne } = setUp(['w1'])
    const [throughput, latency] = [lane('a', { pacing: 'all' }), lane('s', { mode: 's' })]
    for (const n of [1, 2]) throughput.submit(n)
    latency.submit(1)
    for (let i = 0; i < 2; i++) await endOne()
    expect(started).toEqual(['a1', 's1', 'a2'])
  })

  it('gives frames only to workers that are ready for them', async () => {
    const { lane, running, endOne } = setUp(['w1', 'w2'])
    const camera = lane('a', { isReady: worker => worker === 'w2' })
    for (const n of [1, 2]) camera.submit(n)
    expect(running.map(({ worker }) => worker)).toEqual(['w2'])
    await endOne()
    expect(running.map(({ worker }) => worker)).toEqual(['w2'])
  })

  it('runs an errand before the frames that wait', async () => {
    const { scheduler, lane, started, endOne } = setUp(['w1'])
    const camera = lane('a')
    for (const n of [1, 2]) camera.submit(n)
    scheduler.errand('w1', async () => void started.push('errand'))
    await endOne()
    expect(started).toEqual(['a1', 'errand', 'a2'])
  })

  it('goes on after a frame that failed', async () => {
    const { scheduler, started, lane } = setUp(['w1'])
    const failing = scheduler.open({
      mode: 'a',
      pacing: 'all',
      priority: () => 5,
      isReady: () => true,
    })
    await expect(failing.submit(1, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
    lane('a').submit(1)
    expect(started).toEqual(['a1'])
  })

  it('rejects what waits for a lane that closes or a worker that is gone', async () => {
    const { scheduler, lane } = setUp(['w1'])
    const camera = lane('a')
    camera.submit(1)
    const waiting = camera.submit(2)
    const errand = scheduler.errand('w1', async () => {})
    camera.close()
    scheduler.remove('w1', new Error('the worker died'))
    expect(await waiting).toMatchObject({ message: 'a is closed' })
    expect(await camera.submit(3)).toMatchObject({ message: 'a is closed' })
    await expect(errand).rejects.toThrow('the worker died')
  })

  it('serves the higher priority first, and the lower with what is left', async () => {
    const { lane, started, endOne } = setUp(['w1'])
    const yields: string[] = []
    const low = lane('low', { priority: () => 1, onYield: () => yields.push('low') })
    const high = lane('high', { priority: () => 9, onYield: () => yields.push('high') })
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

  it('lets equals share evenly when there are too few workers', async () => {
    const { lane, started, endOne } = setUp(['w1', 'w2'])
    const lanes = ['a', 'b', 'c', 'd', 'e'].map(name => lane(name))
    for (let n = 1; n <= 100; n++) {
      for (const { submit } of lanes) submit(n)
      await endOne()
      await endOne()
    }
    const shares = [...Map.groupBy(started, frame => frame[0]).values()].map(frames => frames.length)
    expect(shares).toHaveLength(5)
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1)
  })

  it('follows a priority that changes', async () => {
    const { lane, started, endOne } = setUp(['w1'])
    let priority = 1
    const [one, other] = [lane('one', { priority: () => priority }), lane('other')]
    for (const n of [1, 2]) one.submit(n)
    other.submit(1)
    priority = 9
    await endOne()
    expect(started).toEqual(['one1', 'one2'])
  })

  it('says nothing of priority where frames are dropped among equals', async () => {
    const { lane, endOne } = setUp(['w1'])
    const onYield = () => expect.unreachable('they are equal')
    const lanes = ['a', 'b', 'c'].map(name => lane(name, { onYield }))
    for (let n = 1; n <= 6; n++) {
      for (const { submit } of lanes) submit(n)
      await endOne()
    }
  })

  it('keeps no worker from what is more important than mode s', () => {
    const { lane, running } = setUp(['w1', 'w2'])
    lane('s', { mode: 's', priority: () => 2 })
    const high = lane('high', { priority: () => 8 })
    for (const n of [1, 2]) high.submit(n)
    expect(running.map(({ worker }) => worker)).toEqual(['w1', 'w2'])
  })

  it('gives a busy worker nothing ahead that something more important may have to wait for', () => {
    const { lane, started } = setUp(['w1'])
    lane('live', { priority: () => 6 })
    const file = lane('f', { pacing: 'all' })
    for (const n of [1, 2]) file.submit(n)
    expect(started).toEqual(['f1'])
  })
})
