import { expect, it } from 'vitest'
import { runWithTimeout } from './run-with-timeout.ts'

it('returns the result, propagates errors and interrupts code that takes too long', () => {
  expect(runWithTimeout(1000, 'too long', () => ['a'])).toEqual(['a'])
  expect(() =>
    runWithTimeout(1000, 'too long', () => {
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
  expect(() => runWithTimeout(50, 'it takes too long', work)).toThrow('it takes too long')
})
