import type { Client } from '@eyrie/client'
import { type About, type Activation, type Catalog, EyrieError, type SystemStatistics } from '@eyrie/contract'
import { z } from 'zod'
import type { Address } from '../registry/engine-record.ts'

/** What an engine says of itself. */
export interface Facts {
  about: About
  activation: Activation
  catalog: Catalog
  statistics: SystemStatistics
  /** Paths of its API and their methods. */
  routes: Record<string, string[]>
}

const document = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

/** Asks an engine what it is. Rejects with EyrieError. */
export async function readFacts(engine: Client, address: Address): Promise<Facts> {
  // First what needs no more than a token: what is wrong with the connection shows here.
  const about = await engine.about()
  const [activation, catalog, statistics, routes] = await Promise.all([
    engine.getActivation(),
    engine.getCatalog(),
    engine.systemStatistics(),
    readRoutes(address),
  ])
  return { about, activation, catalog, statistics, routes }
}

async function readRoutes({ url, token, timeoutMs }: Address): Promise<Facts['routes']> {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
  const signal = AbortSignal.timeout(timeoutMs)
  const answer = fetch(`${url}/api/v3/openapi.json`, { headers, signal }).then(each => each.json())
  const { paths } = await answer
    .then(value => document.parse(value))
    .catch(cause => {
      throw new EyrieError(
        'unavailable',
        `the document of the API at ${url} cannot be read: see whether an engine has this address and port`,
        {
          cause,
        },
      )
    })
  return Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [`/api/v3${path}`, Object.keys(methods)]),
  )
}
