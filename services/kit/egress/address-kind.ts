import { BlockList, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

/** What an IP address stands for, as far as it matters to the rules for outgoing connections. */
export type AddressKind =
  | 'loopback'
  | 'link-local'
  | 'metadata'
  | 'multicast'
  | 'private'
  | 'ordinary'

/**
 * The subnets of each kind. An address is of the first kind that matches. Metadata comes first,
 * because its addresses are also link-local or private.
 */
const SUBNETS: Record<Exclude<AddressKind, 'ordinary'>, readonly string[]> = {
  // Services that give credentials to virtual machines in clouds.
  metadata: [
    '169.254.169.254/32',
    '169.254.170.2/32',
    '100.100.100.200/32',
    '192.0.0.192/32',
    'fd00:ec2::254/128',
  ],
  // A connection to the unspecified address reaches this machine.
  loopback: ['127.0.0.0/8', '0.0.0.0/8', '::1/128', '::/128'],
  'link-local': ['169.254.0.0/16', 'fe80::/10'],
  multicast: ['224.0.0.0/4', '255.255.255.255/32', 'ff00::/8'],
  // Networks that are not reached from the internet (RFC 1918, 4193 and 6598).
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'],
}

const subnetsByKind = Object.entries(SUBNETS).map(([kind, subnets]) => {
  const list = new BlockList()
  for (const subnet of subnets) addSubnet(list, subnet)
  return { kind: kind as AddressKind, list }
})

/**
 * Adds a subnet such as `10.0.0.0/8`, or a single address. Throws if the address is invalid or
 * the prefix too long.
 */
export function addSubnet(list: BlockList, subnet: string): void {
  const [address = '', prefix] = subnet.split('/')
  const family = getFamily(address)
  if (prefix === undefined) list.addAddress(address, family)
  else list.addSubnet(address, Number(prefix), family)
}

/**
 * Returns whether an address is in one of the subnets. An IPv6 address in which an IPv4 address is
 * embedded counts as the IPv4 address.
 */
export function isInSubnets(list: BlockList, address: string): boolean {
  const plain = toPlainAddress(address)
  return list.check(plain, getFamily(plain))
}

export function findKind(address: string): AddressKind {
  return subnetsByKind.find(({ list }) => isInSubnets(list, address))?.kind ?? 'ordinary'
}

/** Returns whether a connection to the address reaches this machine. */
export function isOwnAddress(address: string): boolean {
  if (findKind(address) === 'loopback') return true
  const plain = toPlainAddress(address)
  const interfaces = Object.values(networkInterfaces()).flatMap(list => list ?? [])
  return interfaces.some(own => toPlainAddress(own.address) === plain)
}

function getFamily(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4'
}

/** IPv6 prefixes, as groups of 16 bits, that are followed by an embedded IPv4 address. */
const EMBEDDING_PREFIXES: readonly (readonly number[])[] = [
  [0, 0, 0, 0, 0, 0xffff], // mapped (RFC 4291)
  [0, 0, 0, 0, 0xffff, 0], // translated (RFC 2765)
  [0, 0, 0, 0, 0, 0], // compatible (RFC 4291)
  [0x64, 0xff9b, 0, 0, 0, 0], // NAT64 (RFC 6052)
  [0x64, 0xff9b, 1, 0, 0, 0], // NAT64 of a local network (RFC 8215)
  [0x2002], // 6to4 (RFC 3056)
]

/**
 * Returns an address without zone, in its canonical form, and as IPv4 if an IPv4
 * address is embedded in it.
 */
function toPlainAddress(address: string): string {
  const unzoned = address.replace(/%.*$/, '')
  if (!isIPv6(unzoned)) return unzoned
  const canonical = new URL(`http://[${unzoned}]`).hostname.slice(1, -1)
  const groups = parseGroups(canonical)
  // The unspecified and the loopback address look like compatible addresses, but embed none.
  if (canonical === '::' || canonical === '::1') return canonical
  const prefix = EMBEDDING_PREFIXES.find(candidate =>
    candidate.every((group, i) => groups[i] === group),
  )
  if (!prefix) return canonical
  const [high = 0, low = 0] = groups.slice(prefix.length)
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

/** Returns the eight groups of a canonical IPv6 address, which has no dotted part. */
function parseGroups(canonical: string): number[] {
  const parse = (text: string) =>
    text === '' ? [] : text.split(':').map(group => Number.parseInt(group, 16))
  const [head = '', tail = ''] = canonical.split('::')
  const before = parse(head)
  const after = parse(tail)
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after]
}
