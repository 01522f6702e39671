/** Where browsers reach live views by WebRTC: the ports that compose.yaml publishes. */
export interface PublishedAddress {
  /**
   * Address of the machine on which the ports are published: EYRIE_ADDRESS. Compose needs brackets
   * around an IPv6 address.
   */
  address: string
  /** Addresses or names that are announced instead, separated by commas: EYRIE_ANNOUNCED. */
  announced: string
  port: number
}

type Json = Record<string, unknown>

/**
 * Adds to the settings what media cannot know in a container: the address and the port by
 * which browsers reach it. What the settings say about it counts. Throws an `Error` if the
 * addresses are unknown.
 */
export function addPublishedAddress(
  settings: Json,
  { address, announced, port }: PublishedAddress,
): Json {
  const media = (settings.media ?? {}) as Json
  const webrtc = (media.webrtc ?? {}) as Json
  const addresses = announced.split(/[,\s]+/).filter(Boolean)
  const host = address.replace(/^\[(.*)\]$/, '$1')
  const isWildcard = host === '0.0.0.0' || host === '::'
  if (addresses.length === 0 && isWildcard && webrtc.announced === undefined) {
    throw new Error(
      `EYRIE_ADDRESS=${address} names no address that browsers can reach: set EYRIE_ANNOUNCED in .env to the address of this machine`,
    )
  }
  const published = {
    ports: { min: port, max: port },
    announced: addresses.length > 0 ? addresses : [host],
  }
  return { ...settings, media: { ...media, webrtc: { ...published, ...webrtc } } }
}
