import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '@eyrie/client'
import { UsageError } from '../command/command.ts'
import type { Terminal } from '../command/terminal.ts'

/**
 * How commands find the services of the appliance: their URLs and tokens. The engine analyses
 * video, the media service serves live views and recordings, and the management service has the
 * users, sites and devices.
 */

/** Options of every command that connects to the engine. */
export const ENGINE_OPTIONS = { url: { type: 'string' }, token: { type: 'string' } } as const

/** The URL of a service, and the token that it accepts. */
export interface ServiceAccess {
  url: string
  token: string | undefined
}

/** Default ports. */
const ENGINE_PORT = 8100
const MEDIA_PORT = 8200
const MANAGEMENT_PORT = 8080
const SCHEDULER_PORT = 8300

/**
 * Returns the URL and token of the engine. Command-line options take precedence over environment
 * variables, and those over the defaults of an appliance on this machine, where `secret` is the
 * file of the token. Throws `UsageError` if the URL is invalid.
 */
export function getEngineAccess(
  options: { url?: string; token?: string },
  { data, environment = {} }: Terminal,
  secret: 'engine-token' | 'plugin-token' = 'engine-token',
): ServiceAccess {
  const { EYRIE_ENGINE_URL, EYRIE_ENGINE_PORT, EYRIE_TOKEN } = environment
  const url = options.url || EYRIE_ENGINE_URL || toLocalUrl(EYRIE_ENGINE_PORT || ENGINE_PORT)
  return {
    url: assertServiceUrl(url, 'http://box:8100'),
    token: options.token || EYRIE_TOKEN || readSecret(data, secret),
  }
}

/** Creates a client of the engine. Throws `UsageError` if the URL is invalid. */
export const connectEngine = (
  options: { url?: string; token?: string },
  terminal: Terminal,
): Client => createClient(getEngineAccess(options, terminal))

/**
 * Creates a client of the engine that may change plugins. Throws `UsageError` if the URL is
 * invalid.
 */
export const connectToChangePlugins = (
  options: { url?: string; token?: string },
  terminal: Terminal,
): Client => createClient(getEngineAccess(options, terminal, 'plugin-token'))

/** Returns the URLs and tokens of the other services on this machine. */
export function getServiceAccess({
  data,
  environment = {},
}: Pick<Terminal, 'data' | 'environment'>): {
  media: ServiceAccess
  management: ServiceAccess
  scheduler: ServiceAccess
} {
  const { EYRIE_MEDIA_URL, EYRIE_MEDIA_PORT, EYRIE_MANAGEMENT_URL, EYRIE_MANAGEMENT_PORT } =
    environment
  const { EYRIE_SCHEDULER_URL, EYRIE_SCHEDULER_PORT } = environment
  return {
    media: {
      url: EYRIE_MEDIA_URL || toLocalUrl(EYRIE_MEDIA_PORT || MEDIA_PORT),
      token: environment.EYRIE_INTERNAL_TOKEN || readSecret(data, 'internal-token'),
    },
    management: {
      url: EYRIE_MANAGEMENT_URL || toLocalUrl(EYRIE_MANAGEMENT_PORT || MANAGEMENT_PORT),
      token: undefined,
    },
    scheduler: {
      url: EYRIE_SCHEDULER_URL || toLocalUrl(EYRIE_SCHEDULER_PORT || SCHEDULER_PORT),
      token: undefined,
    },
  }
}

const toLocalUrl = (port: string | number) => `http://127.0.0.1:${port}`

/** Returns the URL. Throws `UsageError` with an example if it is not an HTTP URL. */
export function assertServiceUrl(url: string, example: string): string {
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
export function readSecret(data: string, name: string): string | undefined {
  const file = join(data, 'secrets', name)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}
