import { expect, it } from 'vitest'
import { withTimeout } from './timeout.ts'

it('hands on what comes in time, good or bad', async () => {
  expect(await withTimeout(1000, 'now')).toBe('now')
  expect(await withTimeout(1000, Promise.resolve('soon'))).toBe('soon')
  await expect(withTimeout(1000, Promise.reject(new Error('boom')))).rejects.toThrow('boom')
})

it('says that there was no answer once the time is over', async () => {
  const never = new Promise(() => {})
  await expect(withTimeout(5, never)).rejects.toThrow('no answer within 0.005 s')
  await expect(withTimeout(5, never, 'not opened')).rejects.toThrow('not opened within 0.005 s')
})
