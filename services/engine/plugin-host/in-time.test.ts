import { expect, it } from 'vitest'
import { inTime } from './in-time.ts'

it('answers what was worked out in time, and throws what was thrown', () => {
  expect(inTime(1000, 'too long', () => ['a'])).toEqual(['a'])
  expect(() =>
    inTime(1000, 'too long', () => {
      throw new TypeError('no number')
    }),
  ).toThrow(new TypeError('no number'))
})

it.each([
  [
    'a loop',
    () => {
      for (;;);
    },
  ],
  ['a regular expression that backtracks for ever', () => /^(a+)+$/.test(`${'a'.repeat(60)}b`)],
])('ends %s', (_, work) => {
  expect(() => inTime(50, 'it takes too long', work)).toThrow('it takes too long')
})
