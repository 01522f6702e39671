import type { Client } from '@eyrie/client'
import { type About, type Activation, type Catalog, EyrieError, type SystemStatistics } from '@eyrie/contract'
import { z } from 'zod'
import type { EngineAddress } from '../registry/engine-record.ts'

/** What an engine reports about itself when management connects. */
export interface EngineFacts {
  about: About
  activation: Activation
  catalog: Catalog
  statistics: SystemStatistics
  /** Methods by path of the engine's API. */
  routes: Record<string, string[]>
}

const openApiDocument = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

/** Rejects with `EyrieError`. */
export async function readEngineFacts(engine: Client, address: EngineAddress): Promise<EngineFacts> {
  // Requires nothing but a valid token, so a connection problem is reported as such.
  const about = await engine.about()
  const [activation, catalog, statistics, routes] = await Promise.all([
    engine.getActivation(),
    engine.getCatalog(),
    engine.systemStatistics(),
    readRoutes(address),
  ])
  return { about, activation, catalog, statistics, routes }
}

async function readRoutes({ url, token, timeoutMs }: EngineAddress): Promise<EngineFacts['routes']> {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
  const { paths } = await fetch(`${url}/api/v3/openapi.json`, {
    headers,
    signal: AbortSignal.timeout(timeoutMs),
  })
    .then(async response => openApiDocument.parse(await response.json()))
    .catch(cause => {
      const reason = `failed to read the API document at ${url}: check that an engine has this address and port`
      throw new EyrieError('unavailable', reason, { cause })
    })
  return Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [`/api/v3${path}`, Object.keys(methods)]),
  )
}
