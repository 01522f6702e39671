import { isIPv6 } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { type EngineRetry, parseTimeoutMs } from '@eyrie/contract/management/index'
import { backoffDelayMs } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { engine } from '../../db/schema/index.ts'
import type { Secrets } from '../../secrets/secrets.ts'

/** How an engine is reached. */
export interface Address {
  url: string
  token: string
  /** For each call. */
  timeoutMs: number
}

export interface EngineRecord {
  /** As an operator knows it. */
  name: string
  address: Address
  retry: EngineRetry
}

/** Undefined: the engine is managed no longer. */
export async function readRecord(
  database: Database,
  engine_id: string,
  secrets: Secrets,
): Promise<EngineRecord | undefined> {
  const [row] = await database.system('follow an engine', tx =>
    tx.select().from(engine).where(eq(engine.engine_id, engine_id)),
  )
  if (!row) return undefined
  const host = isIPv6(row.engine_address) ? `[${row.engine_address}]` : row.engine_address
  return {
    name: row.engine_name,
    address: {
      url: `${row.engine_is_secure ? 'https' : 'http'}://${host}:${row.engine_port}`,
      token: secrets.open(row.engine_key),
      timeoutMs: parseTimeoutMs(row.engine_timeout),
    },
    retry: row.engine_retry,
  }
}

/** Another name alone ends no connection. */
export const isReachedAlike = (a: EngineRecord | undefined, b: EngineRecord | undefined) =>
  isDeepStrictEqual([a?.address, a?.retry], [b?.address, b?.retry])

const LONGEST_WAIT_MS = 300_000
const SHORTEST_WAIT_MS = 100

/** After so many failed attempts; infinite where there shall be no more of them. */
export function waitMs(attempts: number, { times, wait_base, disable_backoff }: EngineRetry): number {
  if (times > 0 && attempts >= times) return Number.POSITIVE_INFINITY
  const firstMs = Math.max(wait_base, SHORTEST_WAIT_MS)
  return disable_backoff
    ? firstMs
    : backoffDelayMs(attempts - 1, { initialMs: firstMs, maxMs: Math.max(firstMs, LONGEST_WAIT_MS) })
}
