import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '@eyrie/client'
import { UsageError } from '../command/command.ts'
import type { Terminal } from '../command/terminal.ts'

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

/** Files in the data folder with a token of the engine. Only the second one can change plugins. */
type EngineTokenFile = 'engine-token' | 'plugin-token'

/**
 * Returns the URL and token of the engine. Command-line options take precedence over environment
 * variables. Without both, returns the access to the engine on this machine, with the token in the
 * data folder. Throws `UsageError` if the URL is invalid.
 */
export function getEngineAccess(
  options: EngineOptions,
  { data, environment = {} }: Terminal,
  tokenFile: EngineTokenFile = 'engine-token',
): ServiceAccess {
  const { EYRIE_ENGINE_URL, EYRIE_ENGINE_PORT, EYRIE_TOKEN } = environment
  const localUrl = toLocalUrl(EYRIE_ENGINE_PORT || DEFAULT_PORTS.engine)
  return {
    url: parseServiceUrl(options.url || EYRIE_ENGINE_URL || localUrl, 'http://box:8100'),
    token: options.token || EYRIE_TOKEN || readSecret(data, tokenFile),
  }
}

/** Creates a client of the engine. Throws `UsageError` if the URL is invalid. */
export const connectEngine = (options: EngineOptions, terminal: Terminal): Client =>
  createClient(getEngineAccess(options, terminal))

/**
 * Creates a client of the engine that may change plugins. Throws `UsageError` if the URL is
 * invalid.
 */
export const connectToChangePlugins = (options: EngineOptions, terminal: Terminal): Client =>
  createClient(getEngineAccess(options, terminal, 'plugin-token'))

/** Returns the URLs and tokens of the other services on this machine. */
export function getServiceAccess({
  data,
  environment = {},
}: Pick<Terminal, 'data' | 'environment'>): {
  media: ServiceAccess
  management: ServiceAccess
  scheduler: ServiceAccess
} {
  const {
    EYRIE_MEDIA_URL,
    EYRIE_MEDIA_PORT,
    EYRIE_INTERNAL_TOKEN,
    EYRIE_MANAGEMENT_URL,
    EYRIE_MANAGEMENT_PORT,
    EYRIE_SCHEDULER_URL,
    EYRIE_SCHEDULER_PORT,
  } = environment
  return {
    media: {
      url: EYRIE_MEDIA_URL || toLocalUrl(EYRIE_MEDIA_PORT || DEFAULT_PORTS.media),
      token: EYRIE_INTERNAL_TOKEN || readSecret(data, 'internal-token'),
    },
    management: {
      url: EYRIE_MANAGEMENT_URL || toLocalUrl(EYRIE_MANAGEMENT_PORT || DEFAULT_PORTS.management),
      token: undefined,
    },
    scheduler: {
      url: EYRIE_SCHEDULER_URL || toLocalUrl(EYRIE_SCHEDULER_PORT || DEFAULT_PORTS.scheduler),
      token: undefined,
    },
  }
}

const toLocalUrl = (port: string | number) => `http://127.0.0.1:${port}`

/** Returns the URL if it is an HTTP URL. Throws `UsageError` with an example otherwise. */
export function parseServiceUrl(url: string, example: string): string {
  const protocol = URL.parse(url)?.protocol
  if (protocol === 'http:' || protocol === 'https:') return url
  throw new UsageError(
    `${url} is not the address of a service: write an address such as ${example}`,
  )
}

/**
 * Reads a secret that the supervisor generated at its first start. Returns undefined if the
 * file does not exist.
 */
function readSecret(data: string, name: string): string | undefined {
  const file = join(data, 'secrets', name)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}
