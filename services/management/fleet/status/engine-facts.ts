import type { Client } from '@eyrie/client'
import {
  type About,
  type Activation,
  type Catalog,
  EyrieError,
  type SystemStatistics,
} from '@eyrie/contract'
import { type Egress, fetchFrom } from '@eyrie/kit'
import { z } from 'zod'
import type { EngineAddress } from '../registry/engine-record.ts'

/** Data about an engine that is read once per connection. */
export interface EngineFacts {
  about: About
  activation: Activation
  catalog: Catalog
  statistics: SystemStatistics
  /** The methods of each path of the engine's API. */
  routes: Record<string, string[]>
}

/** Maximum size of an API document. It usually has less than a megabyte. */
const MAX_DOCUMENT_BYTES = 8 << 20

const openApiDocument = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) })

/** Reads the facts about an engine. Rejects with `EyrieError` when a call to the engine fails. */
export async function readEngineFacts(
  engine: Client,
  address: EngineAddress,
  egress: Egress,
): Promise<EngineFacts> {
  // The first call needs nothing but a valid token, so its error shows what is wrong
  // with the connection.
  const about = await engine.about().catch(error => {
    throw isTokenRejected(error) ? createKeyError(address, error) : error
  })
  const [activation, catalog, statistics, routes] = await Promise.all([
    engine.getActivation(),
    engine.getCatalog(),
    engine.systemStatistics(),
    readRoutes(address, egress),
  ])
  return { about, activation, catalog, statistics, routes }
}

const isTokenRejected = (error: unknown) => error instanceof EyrieError && error.code === 'auth'

/**
 * Creates the error for a rejected token. The error of the engine describes the header to send. The
 * operator of the management service has to set the field `engine_key` instead.
 */
function createKeyError({ token }: EngineAddress, cause: unknown): EyrieError {
  const problem = token
    ? 'the engine rejects the engine_key that is stored for it'
    : 'the engine requires a token, and no engine_key is stored for it'
  const remedy =
    'set engine_key to a token of the engine with POST /api/v1/engine/update; the tokens are in EYRIE_ENGINE_TOKENS ' +
    'of the engine, or else in secrets/engine-token of its data folder'
  return new EyrieError('auth', `${problem}: ${remedy}`, { cause })
}

/** Reads the paths and methods of the engine's API from its OpenAPI document. */
async function readRoutes(
  { url, token, timeoutMs }: EngineAddress,
  egress: Egress,
): Promise<EngineFacts['routes']> {
  const headers: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {}
  try {
    const response = await fetchFrom(egress, `${url}/api/v3/openapi.json`, {
      headers,
      signal: AbortSignal.timeout(timeoutMs),
      maxBytes: MAX_DOCUMENT_BYTES,
    })
    const { paths } = openApiDocument.parse(await response.json())
    const routes = Object.entries(paths).map(([path, methods]) => [
      `/api/v3${path}`,
      Object.keys(methods),
    ])
    return Object.fromEntries(routes)
  } catch (cause) {
    const reason = `failed to read the API document at ${url}: check that an engine has this address and port`
    throw new EyrieError('unavailable', reason, { cause })
  }
}
