import { isIP } from 'node:net'
import { type AddressKind, findKind, isInSubnets, isOwnAddress } from './address-kind.ts'
import type { EgressException, EgressPurpose } from './egress-rules.ts'
import { findServerAddress, type ServerAddress } from './server-address.ts'

/** Addresses at which no server of any purpose may be. */
const NEVER: readonly AddressKind[] = ['link-local', 'metadata', 'multicast']

/** The parts of the environment that decide which connections the appliance opens. */
export interface EgressEnvironment {
  ports: { engine: number; media: number; management: number; scheduler: number }
  urls: { engine: string; media: string; management: string }
  egressExceptions: readonly EgressException[]
}

/**
 * The rules forbid a connection. The message says which one, and how the configuration allows it.
 */
export class EgressDeniedError extends Error {
  override readonly name = 'EgressDeniedError'
}

/** The kinds of addresses to which no connection is opened. */
const DENIED_KINDS: Record<EgressPurpose, readonly AddressKind[]> = {
  // The engine on this machine is an exception, because the environment names it.
  engine: [...NEVER, 'loopback'],
  // Gateways such as go2rtc, and programs that read results, often run on the same machine.
  camera: NEVER,
  sink: NEVER,
  // The address is a setting of the console. It must not lead to other servers in the
  // network of the appliance.
  identity: [...NEVER, 'loopback', 'private'],
  // Managers enter these addresses, and the answers are shown to them.
  webhook: [...NEVER, 'loopback', 'private'],
  // The author of the plugin has chosen these addresses.
  plugin: [...NEVER, 'loopback', 'private'],
  // The superadmin enters the addresses of these servers, which are often in the
  // network of the appliance.
  mail: NEVER,
  sms: NEVER,
  broker: NEVER,
  backup: NEVER,
}

/** What is at the other end of a connection, for error messages. */
const PEER_NAMES: Record<EgressPurpose, string> = {
  engine: 'engine',
  camera: 'camera',
  sink: 'sink',
  identity: 'identity provider',
  webhook: 'receiver of alerts',
  mail: 'mail server',
  broker: 'MQTT broker',
  plugin: 'server of a plugin',
  backup: 'storage of backups',
  sms: 'SMS provider',
}

/**
 * Throws `EgressDeniedError` if an IP address and port must not be connected to. `host` is the name
 * that led to the address.
 */
export type CheckAddress = (address: string, port: number, host?: string) => void

/** Creates the check for connections of one purpose. */
export function createEgressPolicy(
  purpose: EgressPurpose,
  environment: EgressEnvironment,
): CheckAddress {
  const ownPorts = listOwnPorts(environment)
  const exceptions = environment.egressExceptions.filter(exception => exception.purpose === purpose)
  const localServers = purpose === 'engine' ? listLocalServers(environment) : []

  function isExcepted(address: string, port: number, isOwnService: boolean): boolean {
    return exceptions.some(exception => {
      if (!isInSubnets(exception.subnet, address)) return false
      // An exception without a port is about a network. It does not permit connections to the
      // services of this appliance.
      return exception.port === undefined ? !isOwnService : exception.port === port
    })
  }

  return (address, port, host = address) => {
    if (localServers.some(server => server.host === host && server.port === port)) return
    const isOwnService = ownPorts.has(port) && isOwnAddress(address)
    if (isExcepted(address, port, isOwnService)) return

    if (isOwnService) {
      throw createDenial(purpose, { address, port, host }, 'a service of this appliance')
    }
    const kind = findKind(address)
    if (DENIED_KINDS[purpose].includes(kind)) {
      throw createDenial(purpose, { address, port, host }, `a ${kind} address`)
    }
  }
}

interface Peer {
  address: string
  port: number
  /** The name that led to the address, or the address itself. */
  host: string
}

function createDenial(purpose: EgressPurpose, { address, port, host }: Peer, description: string) {
  const name = host === address ? address : `${host} (${address})`
  const exception = `${purpose}=${address.includes(':') ? `[${address}]` : address}:${port}`
  return new EgressDeniedError(
    `${name} is ${description}, and no ${PEER_NAMES[purpose]} may be there: ` +
      `use another address, or add ${exception} to EYRIE_EGRESS_ALLOW`,
  )
}

/**
 * Returns the ports on which the services of this appliance listen. Port 0 is left out, because the
 * system then chooses the port.
 */
function listOwnPorts({ ports, urls }: EgressEnvironment): Set<number> {
  const localServers = Object.values(urls)
    .flatMap(url => findServerAddress(url) ?? [])
    .filter(({ host }) => host === 'localhost' || (isIP(host) && isOwnAddress(host)))
  const ownPorts = [...Object.values(ports), ...localServers.map(({ port }) => port)]
  return new Set(ownPorts.filter(port => port !== 0))
}

/** The engine of this appliance, and the media service from which its live views come. */
const listLocalServers = ({ urls }: EgressEnvironment): ServerAddress[] =>
  [urls.engine, urls.media].flatMap(url => findServerAddress(url) ?? [])
