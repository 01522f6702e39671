import { expect, test } from 'vitest'
import { isLoopback } from './request-client.ts'

test.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['192.168.0.7', false],
  ['', false],
])('isLoopback("%s") is %s', (address, expected) => {
  expect(isLoopback(address)).toBe(expected)
})
