import { isIP } from 'node:net'
import { type AddressKind, findKind, isInSubnets, isOwnAddress } from './address-kind.ts'
import type { EgressException, EgressPurpose } from './egress-rules.ts'
import { findServerAddress, formatServerAddress, type ServerAddress } from './server-address.ts'

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

interface PurposeRule {
  /** What is at the other end of a connection, for error messages. */
  peer: string
  /** The kinds of addresses to which no connection is opened. */
  deniedKinds: readonly AddressKind[]
}

/** Kinds of addresses that are denied for every purpose. */
const ALWAYS_DENIED: readonly AddressKind[] = ['link-local', 'metadata', 'multicast']
/** Denies the servers in the network of the appliance, too. */
const PUBLIC_ONLY: readonly AddressKind[] = [...ALWAYS_DENIED, 'loopback', 'private']

const RULES: Record<EgressPurpose, PurposeRule> = {
  // The engine on this machine is an exception, because the environment names it.
  engine: { peer: 'engine', deniedKinds: [...ALWAYS_DENIED, 'loopback'] },
  // Gateways such as go2rtc, and programs that read results, often run on the same machine.
  camera: { peer: 'camera', deniedKinds: ALWAYS_DENIED },
  sink: { peer: 'sink', deniedKinds: ALWAYS_DENIED },
  // The address is a setting of the console.
  identity: { peer: 'identity provider', deniedKinds: PUBLIC_ONLY },
  // Managers enter these addresses, and the answers are shown to them.
  webhook: { peer: 'receiver of alerts', deniedKinds: PUBLIC_ONLY },
  // The author of the plugin has chosen these addresses.
  plugin: { peer: 'server of a plugin', deniedKinds: PUBLIC_ONLY },
  // The superadmin enters the addresses of these servers, which are often in the
  // network of the appliance.
  mail: { peer: 'mail server', deniedKinds: ALWAYS_DENIED },
  sms: { peer: 'SMS provider', deniedKinds: ALWAYS_DENIED },
  broker: { peer: 'MQTT broker', deniedKinds: ALWAYS_DENIED },
  backup: { peer: 'storage of backups', deniedKinds: ALWAYS_DENIED },
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
  const { peer, deniedKinds } = RULES[purpose]
  const ownPorts = listOwnPorts(environment)
  const exceptions = environment.egressExceptions.filter(exception => exception.purpose === purpose)
  const localServers = purpose === 'engine' ? listLocalServers(environment) : []

  return (address, port, host = address) => {
    if (localServers.some(server => server.host === host && server.port === port)) return
    const isOwnService = ownPorts.has(port) && isOwnAddress(address)
    const target: Target = { address, port, host, isOwnService }
    if (exceptions.some(exception => permits(exception, target))) return

    const kind = findKind(address)
    if (!isOwnService && !deniedKinds.includes(kind)) return
    const description = isOwnService ? 'a service of this appliance' : `a ${kind} address`
    const entry = `${purpose}=${formatServerAddress({ host: address, port })}`
    throw new EgressDeniedError(
      `${formatName(target)} is ${description}, and no ${peer} may be there: ` +
        `use another address, or add ${entry} to EYRIE_EGRESS_ALLOW`,
    )
  }
}

interface Target {
  address: string
  port: number
  /** The name that led to the address, or the address itself. */
  host: string
  /** Whether a service of this appliance listens there. */
  isOwnService: boolean
}

/**
 * An exception without a port is about a network. It does not permit connections to the services of
 * this appliance.
 */
function permits(exception: EgressException, { address, port, isOwnService }: Target): boolean {
  if (!isInSubnets(exception.subnet, address)) return false
  return exception.port === undefined ? !isOwnService : exception.port === port
}

const formatName = ({ address, host }: Target) =>
  host === address ? address : `${host} (${address})`

/**
 * Returns the ports on which the services of this appliance listen. Port 0 is left out, because the
 * system then chooses the port.
 */
function listOwnPorts({ ports, urls }: EgressEnvironment): Set<number> {
  const ownServers = Object.values(urls)
    .flatMap(url => findServerAddress(url) ?? [])
    .filter(({ host }) => host === 'localhost' || (isIP(host) && isOwnAddress(host)))
  const ownPorts = [...Object.values(ports), ...ownServers.map(({ port }) => port)]
  return new Set(ownPorts.filter(port => port !== 0))
}

/** The engine of this appliance, and the media service from which its live views come. */
const listLocalServers = ({ urls }: EgressEnvironment): ServerAddress[] =>
  [urls.engine, urls.media].flatMap(url => findServerAddress(url) ?? [])
