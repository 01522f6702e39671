import { isIP } from 'node:net'
import { type AddressKind, findKind, isInSubnets, isOwnAddress } from './address-kind.ts'
import type { EgressException, EgressPurpose } from './egress-rules.ts'
import { findServerAddress, type ServerAddress } from './server-address.ts'

/** The parts of the environment that decide which connections the appliance opens. */
export interface EgressEnvironment {
  ports: { engine: number; media: number; management: number; scheduler: number }
  urls: { engine: string; media: string; management: string }
  egressExceptions: readonly EgressException[]
}

/** The rules forbid a connection. The message says which one, and how the configuration allows it. */
export class EgressDeniedError extends Error {
  override readonly name = 'EgressDeniedError'
}

/** The kinds of addresses to which no connection is opened. */
const DENIED_KINDS: Record<EgressPurpose, readonly AddressKind[]> = {
  // An engine on this machine is named by the configuration.
  engine: ['loopback', 'link-local', 'metadata', 'multicast'],
  // Gateways such as go2rtc, and programs that read results, often run on the same machine.
  camera: ['link-local', 'metadata', 'multicast'],
  sink: ['link-local', 'metadata', 'multicast'],
  // The settings of the console name it, which must not make the appliance read what else is in its network.
  identity: ['loopback', 'link-local', 'metadata', 'multicast', 'private'],
  // Managers enter these addresses, and the answers are shown to them.
  webhook: ['loopback', 'private', 'link-local', 'metadata', 'multicast'],
  // The superadmin enters the address of the mail server, which often is in the same network.
  mail: ['link-local', 'metadata', 'multicast'],
  // As for the mail server.
  broker: ['link-local', 'metadata', 'multicast'],
  // The author of the plugin has chosen these addresses.
  plugin: ['loopback', 'private', 'link-local', 'metadata', 'multicast'],
  // The superadmin enters the address of the storage, which often is in the same network.
  backup: ['link-local', 'metadata', 'multicast'],
  // So may a gateway with a SIM card.
  sms: ['link-local', 'metadata', 'multicast'],
}

/** What is at the other end of a connection. */
const NOUNS: Record<EgressPurpose, string> = {
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

/** Throws `EgressDeniedError` if an IP address and port must not be connected to. */
export type CheckAddress = (address: string, port: number, host?: string) => void

export function createEgressPolicy(purpose: EgressPurpose, environment: EgressEnvironment): CheckAddress {
  const ownPorts = listOwnPorts(environment)
  const exceptions = environment.egressExceptions.filter(exception => exception.purpose === purpose)
  const trusted = purpose === 'engine' ? listLocalServers(environment) : []

  return (address, port, host = address) => {
    // An exception without a port is about a network. It does not open the services of the appliance.
    const isOwnService = ownPorts.has(port) && isOwnAddress(address)
    const isExcepted = exceptions.some(
      exception =>
        isInSubnets(exception.subnet, address) &&
        (exception.port === undefined ? !isOwnService : exception.port === port),
    )
    if (isExcepted || trusted.some(server => server.host === host && server.port === port)) return

    const kind = findKind(address)
    const isDenied = DENIED_KINDS[purpose].includes(kind)
    if (!isOwnService && !isDenied) return
    const problem = isOwnService ? 'a service of this appliance' : `a ${kind} address`
    const name = host === address ? address : `${host} (${address})`
    const remedy = `${purpose}=${address.includes(':') ? `[${address}]` : address}:${port}`
    throw new EgressDeniedError(
      `${name} is ${problem}, and no ${NOUNS[purpose]} may be there: use another address, or add ${remedy} to EYRIE_EGRESS_ALLOW`,
    )
  }
}

/** The ports of the services of this appliance. A port 0 is not known before the service listens. */
function listOwnPorts({ ports, urls }: EgressEnvironment): Set<number> {
  const local = Object.values(urls)
    .flatMap(url => findServerAddress(url) ?? [])
    .filter(({ host }) => host === 'localhost' || (isIP(host) && isOwnAddress(host)))
  return new Set([...Object.values(ports), ...local.map(({ port }) => port)].filter(port => port !== 0))
}

/** The engine of this appliance, and the media service from which its live views come. */
const listLocalServers = ({ urls }: EgressEnvironment): ServerAddress[] =>
  [urls.engine, urls.media].flatMap(url => findServerAddress(url) ?? [])
