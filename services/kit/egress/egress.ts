import { lookup as resolveName } from 'node:dns/promises'
import { once } from 'node:events'
import { type AgentOptions, Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { connect as connectTcp, isIP, type LookupFunction, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { type CheckAddress, createEgressPolicy, type EgressEnvironment } from './egress-policy.ts'
import type { EgressPurpose } from './egress-rules.ts'
import type { ServerAddress } from './server-address.ts'

/**
 * Opens connections for one purpose. A host name is resolved once for each connection, all its
 * addresses are checked, and the connection goes to one of the checked addresses, so that a name
 * cannot change its address in between.
 */
export interface Egress {
  /**
   * Returns the IP addresses of a server. Throws `EgressDeniedError` if one of them is denied:
   * a name with a public and a denied address is an attack. Throws the error of the resolver
   * for an unknown name.
   */
  resolve(server: ServerAddress): Promise<string[]>
  /**
   * Returns one IP address of a server, for a library that opens the connection itself. If the
   * server has several, one that accepts a connection is preferred. Throws as `resolve` does.
   */
  pin(server: ServerAddress, signal: AbortSignal): Promise<string>
  /** Opens a connection. Rejects with `EgressDeniedError`, or with the error of the connection. */
  connect(server: ServerAddress, options: ConnectOptions): Promise<Socket>
  /**
   * Returns a socket that is connecting. A denied address makes it emit `error`, as every
   * failed connection does.
   */
  open(server: ServerAddress): Socket
  /** The agent that opens the connections of HTTP requests and WebSockets. */
  agent(url: URL): HttpAgent
}

export interface ConnectOptions {
  signal: AbortSignal
  tls?: { rejectUnauthorized: boolean }
}

/** How long `pin` tries to connect to a server with several addresses. */
const PIN_TIMEOUT_MS = 3000
const AGENT_OPTIONS: AgentOptions = { keepAlive: true }

/** Creates the egress of a purpose, with the rules that follow from the configuration. */
export const createEgress = (purpose: EgressPurpose, environment: EgressEnvironment): Egress =>
  createCheckedEgress(createEgressPolicy(purpose, environment))

/** Creates an egress that opens connections to every address that passes the check. */
export function createCheckedEgress(check: CheckAddress): Egress {
  async function resolve({ host, port }: ServerAddress): Promise<string[]> {
    const addresses = isIP(host) ? [host] : await lookUp(host)
    for (const address of addresses) check(address, port, host)
    return addresses
  }

  /** Checks a host that is an IP address. Node calls `lookup` only for names. */
  function checkIp({ host, port }: ServerAddress): void {
    if (isIP(host)) check(host, port)
  }

  /** Returns the function with which Node resolves the host name of a connection to `port`. */
  const createLookup =
    (port: number): LookupFunction =>
    (host, options, callback) => {
      const answer = (addresses: string[]) => {
        if (options.all) callback(null, addresses.map(toLookupAddress))
        else callback(null, addresses[0]!, isIP(addresses[0]!))
      }
      resolve({ host, port }).then(answer, (error: NodeJS.ErrnoException) => callback(error, ''))
    }

  async function connect(
    { host, port }: ServerAddress,
    { signal, tls }: ConnectOptions,
  ): Promise<Socket> {
    checkIp({ host, port })
    const target = { host, port, lookup: createLookup(port) }
    const servername = isIP(host) ? undefined : host
    const socket = tls ? connectTls({ ...target, ...tls, servername }) : connectTcp(target)
    try {
      await once(socket, tls ? 'secureConnect' : 'connect', { signal })
      return socket
    } catch (error) {
      // An abandoned socket may still emit an error.
      socket.on('error', () => {})
      socket.destroy()
      throw error
    }
  }

  /** Makes an agent check the address of every connection that it opens. Returns the agent. */
  function guardConnections<Agent extends HttpAgent>(agent: Agent): Agent {
    const open = agent.createConnection.bind(agent)
    agent.createConnection = (options, callback) => {
      const host = options.host ?? 'localhost'
      const port = Number(options.port)
      try {
        checkIp({ host, port })
      } catch (error) {
        callback?.(error as Error, undefined as never)
        return undefined
      }
      return open({ ...options, lookup: createLookup(port) }, callback)
    }
    return agent
  }

  const http = guardConnections(new HttpAgent(AGENT_OPTIONS))
  const https = guardConnections(new HttpsAgent(AGENT_OPTIONS))

  return {
    resolve,

    async pin(server, signal) {
      const [first, ...others] = await resolve(server)
      if (others.length === 0) return first!
      const limited = AbortSignal.any([signal, AbortSignal.timeout(PIN_TIMEOUT_MS)])
      const socket = await connect(server, { signal: limited }).catch(() => undefined)
      const reachedAddress = socket?.remoteAddress
      socket?.destroy()
      // If no address accepts a connection, the library connects to the first one and reports why.
      return reachedAddress ?? first!
    },

    connect,

    open({ host, port }) {
      try {
        checkIp({ host, port })
      } catch (error) {
        const denied = new Socket()
        // The caller adds its listeners first.
        setImmediate(() => denied.destroy(error as Error))
        return denied
      }
      return connectTcp({ host, port, lookup: createLookup(port) })
    },

    agent: ({ protocol }) => (/^(https|wss):$/.test(protocol) ? https : http),
  }
}

/** Returns the IP addresses of a host name, at least one. */
async function lookUp(name: string): Promise<string[]> {
  const addresses = await resolveName(name, { all: true })
  return addresses.map(({ address }) => address)
}

const toLookupAddress = (address: string) => ({ address, family: isIP(address) })
