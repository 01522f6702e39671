import { randomUUID } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import type { Clock } from '../runtime/clock.ts'
import { allAt, readXml, textAt, type Xml } from './xml.ts'

/** A device that has answered. */
export interface Found {
  /** Address of its device service. */
  url: string
  name: string | undefined
  hardware: string | undefined
  location: string | undefined
  /** ONVIF profiles that it says it has, such as `S`, `T`. */
  profiles: string[]
}

export interface DiscoveryOptions {
  /** Ask this host alone; default: everybody near, by multicast on every network of this machine. */
  host?: { address: string; port: number } | undefined
  /** How long answers are waited for. */
  patienceMs: number
  clock: Clock
  signal: AbortSignal
}

const GROUP = '239.255.255.250'
export const DISCOVERY_PORT = 3702
const MOST_FOUND = 256

/** Asks who is there, by WS-Discovery (OASIS, 1.1): a Probe by UDP, which each device answers to who has asked. */
export async function discover({ host, patienceMs, clock, signal }: DiscoveryOptions): Promise<Found[]> {
  const id = `urn:uuid:${randomUUID()}`
  const probe = Buffer.from(probeMessage(id))
  const found = new Map<string, Found>()
  const sockets: Socket[] = []

  function take(message: Buffer) {
    for (const [device, each] of matches(message, id)) {
      if (found.size < MOST_FOUND || found.has(device)) found.set(device, each)
    }
  }

  async function open(at: string | undefined): Promise<void> {
    const socket = createSocket('udp4')
    sockets.push(socket)
    socket.on('message', take)
    // A network that cannot be asked has no devices to be found.
    socket.on('error', () => {})
    socket.bind(0, at)
    await once(socket, 'listening', { signal })
    if (at) socket.setMulticastInterface(at)
    socket.send(probe, host?.port ?? DISCOVERY_PORT, host?.address ?? GROUP, () => {})
  }

  try {
    await Promise.allSettled(host ? [open(undefined)] : ownAddresses().map(open))
    await clock.sleep(patienceMs, signal)
    return [...found.values()].sort((a, b) => a.url.localeCompare(b.url))
  } finally {
    for (const socket of sockets) socket.close()
  }
}

const ownAddresses = () =>
  Object.values(networkInterfaces()).flatMap(
    each => each?.filter(({ family }) => family === 'IPv4').map(({ address }) => address) ?? [],
  )

/** By the device's own name, since it may answer on several networks. What is no answer to this probe is passed over. */
function matches(message: Buffer, id: string): [device: string, Found][] {
  let xml: Xml
  try {
    xml = readXml(message.toString())
  } catch {
    return []
  }
  if (textAt(xml, 'Envelope', 'Header', 'RelatesTo') !== id) return []
  return allAt(xml, 'Envelope', 'Body', 'ProbeMatches', 'ProbeMatch').flatMap(match => {
    const url = textAt(match, 'XAddrs')
      ?.split(/\s+/)
      .find(each => ['http:', 'https:'].includes(URL.parse(each)?.protocol ?? ''))
    if (!url) return []
    const scopes = textAt(match, 'Scopes')?.split(/\s+/) ?? []
    const device = textAt(match, 'EndpointReference', 'Address') ?? url
    return [[device, { url, ...saidIn(scopes) }]]
  })
}

/** Scopes are such as `onvif://www.onvif.org/name/Entrance`. */
function saidIn(scopes: string[]): Omit<Found, 'url'> {
  const all = (kind: string) =>
    scopes.flatMap(scope => {
      const said = new RegExp(`^onvif://www\\.onvif\\.org/${kind}/(.+)$`, 'i').exec(scope)?.[1]
      return said ? [readable(said)] : []
    })
  const known: Record<string, string> = { streaming: 'S' }
  const profiles = all('profile').map(each => known[each.toLowerCase()] ?? each.toUpperCase())
  return {
    name: all('name')[0],
    hardware: all('hardware')[0],
    location: all('location')[0],
    profiles: [...new Set(profiles)].sort(),
  }
}

function readable(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const probeMessage = (id: string) =>
  `<?xml version="1.0" encoding="UTF-8"?><e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope" xmlns:w="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery" xmlns:dn="http://www.onvif.org/ver10/network/wsdl"><e:Header><w:MessageID>${id}</w:MessageID><w:To e:mustUnderstand="true">urn:schemas-xmlsoap-org:ws:2005:04:discovery</w:To><w:Action e:mustUnderstand="true">http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</w:Action></e:Header><e:Body><d:Probe><d:Types>dn:NetworkVideoTransmitter</d:Types></d:Probe></e:Body></e:Envelope>`
