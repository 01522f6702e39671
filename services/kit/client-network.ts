import { isIPv4, isIPv6 } from 'node:net'

const GROUP_COUNT = 8
/** Groups of a /64 prefix. A group has 16 bits. */
const PREFIX_GROUP_COUNT = 4
/**
 * An IPv4-mapped address: an IPv4 client of a socket that accepts both protocols (RFC
 * 4291, section 2.5.5.2).
 */
const IPV4_MAPPED_PREFIX = '::ffff:'

/**
 * Returns the network for which connections and sign-in attempts of a client are counted,
 * because an IPv6 client can change its address at will. This is the network that a provider
 * assigns to one subscriber: the /64 prefix of an IPv6 address, or the IPv4 address itself.
 * Other text is returned unchanged.
 */
export function toNetwork(address: string): string {
  const mapped = address.toLowerCase().startsWith(IPV4_MAPPED_PREFIX)
    ? address.slice(IPV4_MAPPED_PREFIX.length)
    : ''
  if (isIPv4(mapped)) return mapped
  if (!isIPv6(address)) return address

  // A link-local address may end with a zone, such as `%eth0`.
  const [withoutZone = ''] = address.split('%')
  const prefix = expandGroups(withoutZone).slice(0, PREFIX_GROUP_COUNT)
  return `${prefix.join(':')}::/64`
}

/**
 * Returns the groups of an IPv6 address. `::` replaces one run of zero groups (RFC 4291, section
 * 2.2).
 */
function expandGroups(address: string): string[] {
  const [before = '', after = ''] = address.split('::')
  const leading = splitGroups(before)
  const trailing = splitGroups(after)
  const zeroCount = GROUP_COUNT - leading.length - trailing.length
  return [...leading, ...Array<string>(zeroCount).fill('0'), ...trailing]
}

const splitGroups = (text: string) => text.split(':').filter(Boolean)
