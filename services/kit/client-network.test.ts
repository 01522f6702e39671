import { describe, expect, it } from 'vitest'
import { toNetwork } from './client-network.ts'

describe('toNetwork', () => {
  it.each([
    ['192.168.0.7', '192.168.0.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::ffff:192.168.0.7', '192.168.0.7'],
    ['::FFFF:192.168.0.7', '192.168.0.7'],
    ['', ''],
  ])('maps %s to %s', (address, network) => {
    expect(toNetwork(address)).toBe(network)
  })
})
