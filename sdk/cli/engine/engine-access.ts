import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '@eyrie/client'
import { UsageError } from '../command/command.ts'
import type { Terminal } from '../command/terminal.ts'

/** Options of every command that connects to the engine. */
export const engineOptions = { url: { type: 'string' }, token: { type: 'string' } } as const

/** The base URL of a service, and the token that it accepts. */
export interface ServiceAccess {
  url: string
  token: string | undefined
}

/**
 * Finds the engine by the options, else by the environment, else by the defaults of an appliance on this machine. Throws
 * `UsageError` if the URL is invalid.
 */
export function getEngineAccess(
  options: { url?: string; token?: string },
  { data, environment = {} }: Terminal,
): ServiceAccess {
  const url = options.url || environment.EYRIE_ENGINE_URL || localUrl(environment.EYRIE_ENGINE_PORT, 8100)
  return {
    url: assertServiceUrl(url, 'http://box:8100'),
    token: options.token || environment.EYRIE_TOKEN || readSecret(data, 'engine-token'),
  }
}

export const connectEngine = (options: { url?: string; token?: string }, terminal: Terminal): Client =>
  createClient(getEngineAccess(options, terminal))

/** The other services of the appliance on this machine. */
export function getServiceAccess({ data, environment = {} }: Pick<Terminal, 'data' | 'environment'>) {
  return {
    media: {
      url: environment.EYRIE_MEDIA_URL || localUrl(environment.EYRIE_MEDIA_PORT, 8200),
      token: environment.EYRIE_INTERNAL_TOKEN || readSecret(data, 'internal-token'),
    },
    management: {
      url: environment.EYRIE_MANAGEMENT_URL || localUrl(environment.EYRIE_MANAGEMENT_PORT, 8080),
      token: undefined,
    },
  }
}

const localUrl = (port: string | undefined, defaultPort: number) => `http://127.0.0.1:${port || defaultPort}`

/** Returns the URL. Throws `UsageError` with an example if it is not an HTTP URL. */
export function assertServiceUrl(url: string, example: string): string {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url
  throw new UsageError(`${url} is not the address of a service: write an address such as ${example}`)
}

/** Reads a secret that the supervisor generated at its first start; undefined if the file does not exist. */
export function readSecret(data: string, name: string): string | undefined {
  const file = join(data, 'secrets', name)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}
