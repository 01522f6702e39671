import { describe, expect, it } from 'vitest'
import { repeat, sleep, unlessAborted } from './abortable.ts'

const backoff = { initialMs: 1, maxMs: 1 }

describe('repeat', () => {
  it('runs steps until the signal is aborted, and reports the first of consecutive failures', async () => {
    const stopping = new AbortController()
    const failures: unknown[] = []
    const results = ['fail 1', 'fail 2', 'succeed', 'fail 3', 'stop']

    async function step() {
      const result = results.shift()!
      if (result.startsWith('fail')) throw new Error(result)
      if (result === 'stop') stopping.abort()
    }

    await repeat(step, {
      signal: stopping.signal,
      backoff,
      onFailure: error => failures.push(error),
    })
    expect(failures).toEqual([new Error('fail 1'), new Error('fail 3')])
    expect(results).toEqual([])
  })

  it('does not report a step that was aborted', async () => {
    const stopping = new AbortController()
    const failures: unknown[] = []
    const step = async () => {
      stopping.abort()
      stopping.signal.throwIfAborted()
    }
    await repeat(step, {
      signal: stopping.signal,
      backoff,
      onFailure: error => failures.push(error),
    })
    expect(failures).toEqual([])
  })
})

describe('unlessAborted', () => {
  it('returns the result of the work, or its error', async () => {
    const { signal } = new AbortController()
    expect(await unlessAborted(Promise.resolve('done'), signal)).toBe('done')
    await expect(unlessAborted(Promise.reject(new Error('broken')), signal)).rejects.toThrow(
      'broken',
    )
  })

  it('rejects with the reason of the signal, before or while it waits', async () => {
    const never = new Promise(() => {})
    const stopping = new AbortController()
    const waiting = unlessAborted(never, stopping.signal)
    stopping.abort(new Error('stopped'))
    await expect(waiting).rejects.toThrow('stopped')
    await expect(unlessAborted(never, stopping.signal)).rejects.toThrow('stopped')
  })
})

describe('sleep', () => {
  it('resolves when the signal is aborted', async () => {
    const stopping = new AbortController()
    const sleeping = sleep(2 ** 31 - 1, stopping.signal)
    stopping.abort()
    await sleeping
  })
})
