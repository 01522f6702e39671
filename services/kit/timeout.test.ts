import { describe, expect, it } from 'vitest'
import { withTimeout } from './timeout.ts'

describe('withTimeout', () => {
  it('returns the result or the error of work that ends in time', async () => {
    expect(await withTimeout(1000, 'now')).toBe('now')
    expect(await withTimeout(1000, Promise.resolve('soon'))).toBe('soon')
    await expect(withTimeout(1000, Promise.reject(new Error('boom')))).rejects.toThrow('boom')
  })

  it('rejects after the timeout', async () => {
    const never = new Promise(() => {})
    await expect(withTimeout(5, never)).rejects.toThrow('no answer within 0.005 s')
    await expect(withTimeout(5, never, 'not opened')).rejects.toThrow('not opened within 0.005 s')
  })
})
