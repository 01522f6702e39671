import { expect, it } from 'vitest'
import { bearer, isAccepted } from './tokens.ts'

it('accepts exactly the tokens that are known', () => {
  expect(isAccepted('second', ['first', 'second'])).toBe(true)
  expect(isAccepted('secon', ['first', 'second'])).toBe(false)
  expect(isAccepted('', ['first'])).toBe(false)
  expect(isAccepted(undefined, ['first'])).toBe(false)
  expect(isAccepted('first', [])).toBe(false)
})

it('reads the token of a bearer header and of nothing else', () => {
  expect(bearer('Bearer abc')).toBe('abc')
  expect(bearer('bearer abc')).toBe('abc')
  expect(bearer('Basic abc')).toBeUndefined()
  expect(bearer('Bearer a b')).toBeUndefined()
  expect(bearer(undefined)).toBeUndefined()
})
