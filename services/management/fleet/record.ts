import { isIPv6 } from 'node:net'
import { type EngineRetry, timeoutMs } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { engine } from '../db/schema/index.ts'
import type { Secrets } from '../secrets/secrets.ts'

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
      timeoutMs: timeoutMs(row.engine_timeout),
    },
    retry: row.engine_retry,
  }
}
