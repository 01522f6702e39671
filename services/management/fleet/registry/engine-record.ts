import { isIPv6 } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { type EngineRetry, parseTimeoutMs } from '@eyrie/contract/management/index'
import { backoffDelayMs } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { engine } from '../../db/schema/index.ts'
import type { Secrets } from '../../secrets/secrets.ts'

/** Connection settings of an engine. */
export interface EngineAddress {
  url: string
  token: string
  /** Timeout of each call. */
  timeoutMs: number
}

export interface EngineRecord {
  /** Display name. */
  name: string
  address: EngineAddress
  retry: EngineRetry
}

/** Returns undefined when the engine has been deleted. */
export async function readEngineRecord(
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

/** Compares all fields except the name, which does not affect the connection. */
export const hasSameConnection = (a: EngineRecord | undefined, b: EngineRecord | undefined) =>
  isDeepStrictEqual([a?.address, a?.retry], [b?.address, b?.retry])

const MAX_RETRY_DELAY_MS = 300_000
const MIN_RETRY_DELAY_MS = 100

/** Delay after a number of consecutive failures; infinite once the configured attempts are used up. */
export function retryDelayMs(failures: number, { times, wait_base, disable_backoff }: EngineRetry): number {
  if (times > 0 && failures >= times) return Number.POSITIVE_INFINITY
  const initialMs = Math.max(wait_base, MIN_RETRY_DELAY_MS)
  if (disable_backoff) return initialMs
  return backoffDelayMs(failures - 1, { initialMs, maxMs: Math.max(initialMs, MAX_RETRY_DELAY_MS) })
}
