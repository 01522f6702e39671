import { expect, it } from 'vitest'
import { within } from './deadline.ts'

it('hands on what comes in time, good or bad', async () => {
  expect(await within(1000, 'now')).toBe('now')
  expect(await within(1000, Promise.resolve('soon'))).toBe('soon')
  await expect(within(1000, Promise.reject(new Error('boom')))).rejects.toThrow('boom')
})

it('says that there was no answer once the time is over', async () => {
  const never = new Promise(() => {})
  await expect(within(5, never)).rejects.toThrow('no answer within 0.005 s')
  await expect(within(5, never, 'not opened')).rejects.toThrow('not opened within 0.005 s')
})
