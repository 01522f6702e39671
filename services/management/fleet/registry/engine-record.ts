import { isIPv6 } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import { type EngineRetry, parseTimeoutMs } from '@eyrie/contract/management/index'
import { backoffDelayMs } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { engine, engineState } from '../../db/schema/index.ts'
import type { Secrets } from '../../secrets/secrets.ts'

const MIN_RETRY_DELAY_MS = 100
/** People wait for an engine that has worked before. */
const MAX_RETRY_DELAY_MS = 15_000
/** An engine that has never answered may have a wrong address. */
const MAX_FIRST_CONTACT_DELAY_MS = 300_000

/** Where an engine is, and how to authenticate to it. */
export interface EngineAddress {
  url: string
  /** Empty: the engine requires no token. */
  token: string
  /** Timeout of each call. */
  timeoutMs: number
}

/** The stored settings of a registered engine. */
export interface EngineRecord {
  /** Display name. */
  name: string
  address: EngineAddress
  retry: EngineRetry
  /** When the engine last answered; null if it never has. */
  lastResponseAt: Date | null
}

/** Returns the stored settings of an engine, or undefined if the engine has been deleted. */
export async function readEngineRecord(
  database: Database,
  engineId: string,
  secrets: Secrets,
): Promise<EngineRecord | undefined> {
  const [row] = await database.system('follow an engine', tx =>
    tx
      .select({ settings: engine, lastResponseAt: engineState.seen_at })
      .from(engine)
      .leftJoin(engineState, eq(engineState.engine_id, engine.engine_id))
      .where(eq(engine.engine_id, engineId)),
  )
  if (!row) return undefined

  const { settings, lastResponseAt } = row
  const scheme = settings.engine_is_secure ? 'https' : 'http'
  const host = isIPv6(settings.engine_address)
    ? `[${settings.engine_address}]`
    : settings.engine_address
  return {
    name: settings.engine_name,
    address: {
      url: `${scheme}://${host}:${settings.engine_port}`,
      token: secrets.decrypt(settings.engine_key),
      timeoutMs: parseTimeoutMs(settings.engine_timeout),
    },
    retry: settings.engine_retry,
    lastResponseAt,
  }
}

/** Returns whether two records have the same connection settings. */
export const hasSameConnection = (a: EngineRecord | undefined, b: EngineRecord | undefined) =>
  isDeepStrictEqual([a?.address, a?.retry], [b?.address, b?.retry])

/**
 * Returns the delay before the next connection attempt. It is infinite after the configured number
 * of consecutive failures. `hasResponded`: whether the engine has ever answered.
 */
export function retryDelayMs(
  failureCount: number,
  { times, wait_base: waitBase, disable_backoff: disableBackoff }: EngineRetry,
  { hasResponded }: { hasResponded: boolean },
): number {
  if (times > 0 && failureCount >= times) return Number.POSITIVE_INFINITY
  const initialMs = Math.max(waitBase, MIN_RETRY_DELAY_MS)
  if (disableBackoff) return initialMs
  const maxMs = hasResponded ? MAX_RETRY_DELAY_MS : MAX_FIRST_CONTACT_DELAY_MS
  return backoffDelayMs(failureCount - 1, { initialMs, maxMs: Math.max(initialMs, maxMs) })
}
