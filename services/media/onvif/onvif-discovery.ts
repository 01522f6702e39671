import { randomUUID } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type Egress, EgressDeniedError } from '@eyrie/kit'
import type { Clock } from '../runtime/clock.ts'
import { findAll, findText, parseXml, type Xml } from './xml.ts'

/**
 * An ONVIF camera or recorder on the local network that has answered a probe. `discover`
 * searches for such devices.
 */
export interface DiscoveredDevice {
  /** URL of its device service. */
  url: string
  name: string | undefined
  hardware: string | undefined
  location: string | undefined
  /** ONVIF profiles that it declares, such as `S` and `T`. */
  profiles: string[]
}

export interface DiscoveryOptions {
  /** Probes only this host. By default, a multicast probes all networks of this machine. */
  host?: { address: string; port: number } | undefined
  /** How long to wait for answers. */
  durationMs: number
  clock: Clock
  /** Decides which hosts may be probed. */
  egress: Egress
  signal: AbortSignal
}

const MULTICAST_GROUP = '239.255.255.250'
export const DISCOVERY_PORT = 3702
const MAX_DEVICES = 256

/**
 * Discovers devices by WS-Discovery 1.1 (OASIS): sends a Probe over UDP, which devices answer with
 * ProbeMatches. Throws `EgressDeniedError` if the host may not be probed. An unknown or unreachable
 * host yields no devices.
 */
export async function discover(options: DiscoveryOptions): Promise<DiscoveredDevice[]> {
  const { host, durationMs, clock, egress, signal } = options
  const address = host ? await resolveHost(host, egress) : MULTICAST_GROUP
  if (!address) return []
  const port = host?.port ?? DISCOVERY_PORT

  const messageId = `urn:uuid:${randomUUID()}`
  /** By endpoint address, because a device may answer in several networks. */
  const devices = new Map<string, DiscoveredDevice>()
  const sockets: Socket[] = []

  function onAnswer(message: Buffer) {
    for (const { endpoint, device } of parseMatches(message, messageId)) {
      if (devices.size < MAX_DEVICES || devices.has(endpoint)) devices.set(endpoint, device)
    }
  }

  /** Sends the probe from a local address, or from the address that the system chooses. */
  async function sendProbe(localAddress: string | undefined): Promise<void> {
    const socket = createSocket('udp4')
    sockets.push(socket)
    socket.on('message', onAnswer)
    socket.on('error', ignoreNetworkError)
    socket.bind(0, localAddress)
    await once(socket, 'listening', { signal })

    if (localAddress) socket.setMulticastInterface(localAddress)
    socket.send(buildProbe(messageId), port, address, ignoreNetworkError)
  }

  try {
    const localAddresses = host ? [undefined] : listLocalAddresses()
    await Promise.allSettled(localAddresses.map(sendProbe))
    await clock.sleep(durationMs, signal)
    return [...devices.values()].sort((a, b) => a.url.localeCompare(b.url))
  } finally {
    for (const socket of sockets) socket.close()
  }
}

/** An unreachable network yields no answers. The other networks are still probed. */
const ignoreNetworkError = () => {}

/**
 * Returns the IPv4 address of a host; undefined if it has none. Throws `EgressDeniedError` for a
 * host that is denied.
 */
async function resolveHost(
  { address, port }: { address: string; port: number },
  egress: Egress,
): Promise<string | undefined> {
  try {
    const addresses = await egress.resolve({ host: address, port })
    return addresses.find(isIPv4)
  } catch (error) {
    if (error instanceof EgressDeniedError) throw error
    return undefined
  }
}

/** Returns the IPv4 addresses of this machine. */
function listLocalAddresses(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap(list => list ?? [])
  return addresses.filter(({ family }) => family === 'IPv4').map(({ address }) => address)
}

/** A device and its endpoint address, which is the same in all networks. */
interface Match {
  endpoint: string
  device: DiscoveredDevice
}

/** Returns the devices in an answer to this probe. Returns no devices for any other message. */
function parseMatches(message: Buffer, messageId: string): Match[] {
  let xml: Xml
  try {
    xml = parseXml(message.toString())
  } catch {
    return []
  }
  if (findText(xml, 'Envelope', 'Header', 'RelatesTo') !== messageId) return []

  const matches: Match[] = []
  for (const match of findAll(xml, 'Envelope', 'Body', 'ProbeMatches', 'ProbeMatch')) {
    const url = splitList(findText(match, 'XAddrs')).find(isHttpUrl)
    if (!url) continue
    const scopes = splitList(findText(match, 'Scopes'))
    const endpoint = findText(match, 'EndpointReference', 'Address') ?? url
    matches.push({ endpoint, device: { url, ...parseScopes(scopes) } })
  }
  return matches
}

/** Splits an XML list, whose entries are separated by white space. */
const splitList = (text: string | undefined) => text?.split(/\s+/) ?? []

const isHttpUrl = (text: string) => ['http:', 'https:'].includes(URL.parse(text)?.protocol ?? '')

/** Parses the scopes of a device, such as `onvif://www.onvif.org/name/Entrance`. */
function parseScopes(scopes: string[]): Omit<DiscoveredDevice, 'url'> {
  const getValues = (kind: string) =>
    scopes.flatMap(scope => {
      const value = new RegExp(`^onvif://www\\.onvif\\.org/${kind}/(.+)$`, 'i').exec(scope)?.[1]
      return value ? [decodePercent(value)] : []
    })

  // Devices declare profile S by its name.
  const toProfile = (name: string) =>
    name.toLowerCase() === 'streaming' ? 'S' : name.toUpperCase()
  const profiles = getValues('profile').map(toProfile)

  return {
    name: getValues('name')[0],
    hardware: getValues('hardware')[0],
    location: getValues('location')[0],
    profiles: [...new Set(profiles)].sort(),
  }
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * Builds a Probe for video devices, with the WS-Discovery namespace of April 2005
 * that ONVIF prescribes.
 */
const buildProbe = (messageId: string) => `<?xml version="1.0" encoding="UTF-8"?>
<e:Envelope
  xmlns:e="http://www.w3.org/2003/05/soap-envelope"
  xmlns:w="http://schemas.xmlsoap.org/ws/2004/08/addressing"
  xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery"
  xmlns:dn="http://www.onvif.org/ver10/network/wsdl">
  <e:Header>
    <w:MessageID>${messageId}</w:MessageID>
    <w:To e:mustUnderstand="true">urn:schemas-xmlsoap-org:ws:2005:04:discovery</w:To>
    <w:Action e:mustUnderstand="true">http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</w:Action>
  </e:Header>
  <e:Body>
    <d:Probe>
      <d:Types>dn:NetworkVideoTransmitter</d:Types>
    </d:Probe>
  </e:Body>
</e:Envelope>`
