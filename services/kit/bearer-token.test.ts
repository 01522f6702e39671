import { expect, it } from 'vitest'
import { isKnownToken, parseBearerToken } from './bearer-token.ts'

it('accepts exactly the tokens that are known', () => {
  expect(isKnownToken('second', ['first', 'second'])).toBe(true)
  expect(isKnownToken('secon', ['first', 'second'])).toBe(false)
  expect(isKnownToken('', ['first'])).toBe(false)
  expect(isKnownToken(undefined, ['first'])).toBe(false)
  expect(isKnownToken('first', [])).toBe(false)
})

it('reads the token of a bearer header and of nothing else', () => {
  expect(parseBearerToken('Bearer abc')).toBe('abc')
  expect(parseBearerToken('bearer abc')).toBe('abc')
  expect(parseBearerToken('Basic abc')).toBeUndefined()
  expect(parseBearerToken('Bearer a b')).toBeUndefined()
  expect(parseBearerToken(undefined)).toBeUndefined()
})
