import { isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type Client, createClient } from '@eyrie/client'
import { UsageError } from '../command/command.ts'
import type { Terminal } from '../command/terminal.ts'
import { readSecret } from './secret-files.ts'

/**
 * How commands find the services of the appliance: their URLs and tokens. The engine analyses
 * video, the media service serves live views and recordings, the management service has the users,
 * sites and devices, and the scheduler sends messages.
 */

/** Options of every command that connects to the engine. */
export const ENGINE_OPTIONS = { url: { type: 'string' }, token: { type: 'string' } } as const

/** The values of `ENGINE_OPTIONS`. */
export interface EngineOptions {
  url?: string
  token?: string
}

/** The URL of a service, and the token that it accepts. */
export interface ServiceAccess {
  url: string
  token: string | undefined
}

/** The ports of the services, unless environment variables specify others. */
const DEFAULT_PORTS = { engine: 8100, media: 8200, management: 8080, scheduler: 8300 }
export type ServiceName = keyof typeof DEFAULT_PORTS

/** Files in the data folder with a token of the engine. Only the second one can change plugins. */
type EngineTokenFile = 'engine-token' | 'plugin-token'

/**
 * Returns the URL and token of the engine. Command-line options take precedence over environment
 * variables. Without both, returns the access to the engine on this machine, with the token in the
 * data folder. Throws `UsageError` if the URL is invalid, or if it is that of another machine and
 * no token is given: the token of this machine is a secret of its engine.
 */
export function getEngineAccess(
  options: EngineOptions,
  terminal: Pick<Terminal, 'data' | 'environment'>,
  tokenFile: EngineTokenFile = 'engine-token',
): ServiceAccess {
  const url = getEngineUrl(options, terminal)
  const token = options.token || terminal.environment?.EYRIE_TOKEN
  if (token) return { url, token }
  if (options.url && url !== getServiceUrl('engine', terminal) && !isThisMachine(url)) {
    throw new UsageError(
      `the token of this machine is not sent to ${url}: pass a token of that engine with --token or EYRIE_TOKEN`,
    )
  }
  return { url, token: readSecret(terminal.data, tokenFile) }
}

/** Returns the URL of the engine. Throws `UsageError` if it is invalid. */
export const getEngineUrl = (
  options: EngineOptions,
  terminal: Pick<Terminal, 'environment'>,
): string => (options.url ? parseServiceUrl(options.url) : getServiceUrl('engine', terminal))

/** Creates a client of the engine. Throws `UsageError` if the URL is invalid. */
export const connectEngine = (options: EngineOptions, terminal: Terminal): Client =>
  createClient(getEngineAccess(options, terminal))

/**
 * Creates a client of the engine that may change plugins. Throws `UsageError` if the URL is
 * invalid.
 */
export const connectToChangePlugins = (options: EngineOptions, terminal: Terminal): Client =>
  createClient(getEngineAccess(options, terminal, 'plugin-token'))

/**
 * Returns the URL of a service of the appliance, by default on this machine. Throws `UsageError` if
 * the configured URL is invalid.
 */
export function getServiceUrl(
  service: ServiceName,
  { environment = {} }: Pick<Terminal, 'environment'>,
): string {
  const url = environment[getVariable(service, 'URL')]
  const port = environment[getVariable(service, 'PORT')] || DEFAULT_PORTS[service]
  return parseServiceUrl(url || `http://127.0.0.1:${port}`)
}

/** Returns the name of the environment variable with the URL or the port of a service. */
export const getVariable = (service: string, suffix: 'URL' | 'PORT') =>
  `EYRIE_${service.toUpperCase()}_${suffix}`

/** Returns the URL without slashes at its end. Throws `UsageError` if it is not an HTTP URL. */
function parseServiceUrl(url: string): string {
  const protocol = URL.parse(url)?.protocol
  if (protocol === 'http:' || protocol === 'https:') return url.replace(/\/+$/, '')
  throw new UsageError(
    `${url} is not the address of a service: write an address such as http://box:8100`,
  )
}

/** Whether the URL names this machine by one of its addresses. */
function isThisMachine(url: string): boolean {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  const addresses = Object.values(networkInterfaces()).flatMap(list => list ?? [])
  return (
    host === 'localhost' ||
    (isIPv4(host) && host.startsWith('127.')) ||
    addresses.some(({ address }) => address === host)
  )
}
