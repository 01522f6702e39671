import { isLoopback } from '@eyrie/kit/access-control'
import { expect, test } from 'vitest'
import { networkOf } from './peer.ts'

test.each([
  ['192.168.0.7', '192.168.0.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['', ''],
])('%s belongs to whoever has %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

test.each([
  ['127.0.0.1', true],
  ['127.1.2.3', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['192.168.0.7', false],
  ['', false],
])('whether %s is this machine: %s', (address, expected) => {
  expect(isLoopback(address)).toBe(expected)
})
