import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createClient } from '@eyrie/client'
import type { Terminal } from '../terminal.ts'

/** Options of every command that speaks to the engine. */
export const engineOptions = { url: { type: 'string' }, token: { type: 'string' } } as const

export interface Access {
  url: string
  token: string | undefined
}

/** Where the engine is and how to get in, by the options, the environment, or what the first start has written. */
export function accessOf(
  given: { url?: string; token?: string },
  { data, environment = {} }: Terminal,
): Access {
  return {
    url: given.url || environment.EYRIE_ENGINE_URL || onThisBox(environment.EYRIE_ENGINE_PORT, 8100),
    token: given.token || environment.EYRIE_TOKEN || secretIn(data, 'engine-token'),
  }
}

/** Where a service of the appliance listens here; ports are told to both alike. */
export const onThisBox = (port: string | undefined, standard: number) =>
  `http://127.0.0.1:${port || standard}`

export const connect = (given: { url?: string; token?: string }, terminal: Terminal): Client =>
  createClient(accessOf(given, terminal))

/** A secret that the first start has made; undefined where it has made none. */
export function secretIn(data: string, name: string): string | undefined {
  const file = join(data, 'secrets', name)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}
