import { describe, expect, it } from 'vitest'
import { isKnownToken, isLoopback, parseBearerToken } from './access-control.ts'

describe('isKnownToken', () => {
  it('accepts exactly the known tokens', () => {
    expect(isKnownToken('second', ['first', 'second'])).toBe(true)
    expect(isKnownToken('secon', ['first', 'second'])).toBe(false)
    expect(isKnownToken('', ['first'])).toBe(false)
    expect(isKnownToken(undefined, ['first'])).toBe(false)
    expect(isKnownToken('first', [])).toBe(false)
  })
})

describe('parseBearerToken', () => {
  it('reads the token of a bearer header and ignores other schemes', () => {
    expect(parseBearerToken('Bearer abc')).toBe('abc')
    expect(parseBearerToken('bearer abc')).toBe('abc')
    expect(parseBearerToken('Basic abc')).toBeUndefined()
    expect(parseBearerToken('Bearer a b')).toBeUndefined()
    expect(parseBearerToken(undefined)).toBeUndefined()
  })
})

describe('isLoopback', () => {
  it.each(['localhost', '127.0.0.1', '127.1.2.3', '::1', '[::1]', '::ffff:127.0.0.1'])(
    'accepts %s',
    host => {
      expect(isLoopback(host)).toBe(true)
    },
  )

  it.each([
    '',
    '127.example.com',
    '127.0.0.1.example.com',
    'localhost.example.com',
    '0.0.0.0',
    '::',
    '192.168.0.7',
    '::2',
  ])('rejects "%s"', host => {
    expect(isLoopback(host)).toBe(false)
  })
})
