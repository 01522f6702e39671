import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
import { channel, engine, setting } from '../../db/schema/index.ts'
import type { Principal } from '../../rights/principal.ts'
import type { Secrets } from '../../secrets/secrets.ts'

/** The engine that runs on this appliance. */
export interface LocalEngine {
  url: string
  token: string | undefined
}

/**
 * Registers the local engine at the first start. Later starts update its address and token. An operator may delete the
 * local engine: it is not registered again.
 */
export function registerLocalEngine(
  database: Database,
  secrets: Secrets,
  { url, token = '' }: LocalEngine,
): Promise<void> {
  return database.system('register the local engine', async tx => {
    const address = parseAddress(url)
    const engine_id = await findLocalEngineId(tx)
    if (engine_id === undefined) {
      const [inserted] = await tx
        .insert(engine)
        .values({
          ...address,
          engine_name: 'local',
          engine_key: secrets.seal(token),
          engine_timeout: '5s',
          engine_retry: { disable_backoff: false, times: 0, wait_base: 1000 },
        })
        .returning()
      await tx.insert(setting).values({ name: SETTING_NAME, value: { engine_id: inserted!.engine_id } })
      return
    }
    const [row] = await tx.select().from(engine).where(eq(engine.engine_id, engine_id))
    if (!row) return
    const isCurrent =
      row.engine_address === address.engine_address &&
      row.engine_port === address.engine_port &&
      row.engine_is_secure === address.engine_is_secure &&
      secrets.open(row.engine_key) === token
    if (isCurrent) return
    await tx
      .update(engine)
      .set({ ...address, engine_key: secrets.seal(token), engine_updated_at: new Date() })
      .where(eq(engine.engine_id, engine_id))
  })
}

function parseAddress(url: string) {
  const { hostname, port, protocol } = new URL(url)
  const engine_is_secure = protocol === 'https:'
  return {
    engine_address: hostname.replace(/^\[(.*)\]$/, '$1'),
    engine_port: Number(port) || (engine_is_secure ? 443 : 80),
    engine_is_secure,
  }
}

const SETTING_NAME = 'local_engine'

/** Returns the id under which the local engine was registered, even if it has been deleted since; undefined before. */
export async function findLocalEngineId(tx: Transaction): Promise<string | undefined> {
  const [row] = await tx.select().from(setting).where(eq(setting.name, SETTING_NAME))
  return (row?.value as { engine_id: string } | undefined)?.engine_id
}

/** Returns the ids, on the local engine, of the channels visible to a user. */
export async function findLocalChannels(database: Database, caller: Principal): Promise<ReadonlySet<number>> {
  const engine_id = await database.system('live views', findLocalEngineId)
  if (engine_id === undefined) return new Set()
  const rows = await database.as(caller, 'live views', tx =>
    tx
      .select({ sid: sql<number>`${channel.channel_sid}` })
      .from(channel)
      .where(and(eq(channel.engine_id, engine_id), isNotNull(channel.channel_sid))),
  )
  return new Set(rows.map(({ sid }) => sid))
}
