import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '@eyrie/client'
import { type Terminal, UsageError } from '../terminal.ts'

/** Options of every command that speaks to the engine. */
export const engineOptions = { url: { type: 'string' }, token: { type: 'string' } } as const

export interface Access {
  url: string
  token: string | undefined
}

/**
 * Where the engine is and how to get in, by the options, the environment, or what the first start has written. Throws
 * `UsageError` where no engine can be there.
 */
export function accessOf(
  given: { url?: string; token?: string },
  { data, environment = {} }: Terminal,
): Access {
  const url = given.url || environment.EYRIE_ENGINE_URL || onThisBox(environment.EYRIE_ENGINE_PORT, 8100)
  return {
    url: requireAddress(url, 'http://box:8100'),
    token: given.token || environment.EYRIE_TOKEN || secretIn(data, 'engine-token'),
  }
}

/** Where a service of the appliance listens here; ports are told to both alike. */
export const onThisBox = (port: string | undefined, standard: number) =>
  `http://127.0.0.1:${port || standard}`

/** The address of a service. Throws `UsageError` that says what one is `such as` where it is none. */
export function requireAddress(url: string, such: string): string {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return url
  throw new UsageError(`${url} is no address of a service: write one such as ${such}`)
}

export const connect = (given: { url?: string; token?: string }, terminal: Terminal): Client =>
  createClient(accessOf(given, terminal))

/** A secret that the first start has made; undefined where it has made none. */
export function secretIn(data: string, name: string): string | undefined {
  const file = join(data, 'secrets', name)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}
