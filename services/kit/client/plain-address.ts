import { BlockList, isIPv6 } from 'node:net'

/**
 * Returns an IPv4 address that is mapped to IPv6 (RFC 4291, section 2.5.5.2) as IPv4, and
 * other text unchanged.
 */
export const toPlainAddress = (address = '') => address.replace(/^::ffff:(?=\d+\.)/i, '')

/**
 * Returns whether a list includes an IP address. Addresses that embed another one, such as those of
 * 6to4, are not this other one.
 */
export function includesAddress(list: BlockList, address: string): boolean {
  const plain = toPlainAddress(address)
  return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4')
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8)
loopback.addAddress('::1', 'ipv6')

export const isLoopbackAddress = (address: string) => includesAddress(loopback, address)
