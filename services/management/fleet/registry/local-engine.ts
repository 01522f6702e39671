import { eq, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
import { channel, engine, setting } from '../../db/schema/index.ts'
import type { Principal } from '../../rights/principal.ts'
import type { Secrets } from '../../secrets/secrets.ts'

/** The engine of this box. */
export interface LocalEngine {
  url: string
  token: string | undefined
}

/**
 * Registers the engine of this box at the first start, so that it is managed at once. Later starts keep its address and
 * token as they are now; one that has been taken out of management stays out.
 */
export const registerLocalEngine = (database: Database, secrets: Secrets, { url, token = '' }: LocalEngine) =>
  database.system('register the engine of this box', async tx => {
    const { hostname, port, protocol } = new URL(url)
    const isSecure = protocol === 'https:'
    const engine_address = hostname.replace(/^\[(.*)\]$/, '$1')
    const engine_port = Number(port) || (isSecure ? 443 : 80)
    const where = { engine_address, engine_port, engine_is_secure: isSecure }
    const engine_id = await localEngineId(tx)
    if (engine_id === undefined) {
      const [made] = await tx
        .insert(engine)
        .values({
          ...where,
          engine_name: 'local',
          engine_key: secrets.seal(token),
          engine_timeout: '5s',
          engine_retry: { disable_backoff: false, times: 0, wait_base: 1000 },
        })
        .returning()
      await keepLocalEngineId(tx, made!.engine_id)
      return
    }
    const [row] = await tx.select().from(engine).where(eq(engine.engine_id, engine_id))
    if (!row) return
    const isSame =
      row.engine_address === engine_address &&
      row.engine_port === engine_port &&
      row.engine_is_secure === isSecure &&
      secrets.open(row.engine_key) === token
    if (isSame) return
    const values = { ...where, engine_key: secrets.seal(token), engine_updated_at: new Date() }
    await tx.update(engine).set(values).where(eq(engine.engine_id, engine_id))
  })

const NAME = 'local_engine'

/** Under which id the engine of this box has been registered; undefined: never. It may have been taken out since. */
export async function localEngineId(tx: Transaction): Promise<string | undefined> {
  const [known] = await tx.select().from(setting).where(eq(setting.name, NAME))
  return (known?.value as { engine_id: string } | undefined)?.engine_id
}

const keepLocalEngineId = (tx: Transaction, engine_id: string) =>
  tx.insert(setting).values({ name: NAME, value: { engine_id } })

/** Ids on this box's engine of the channels that a user sees. */
export async function localChannels(database: Database, caller: Principal): Promise<ReadonlySet<number>> {
  const engine_id = await database.system('live views', localEngineId)
  if (engine_id === undefined) return new Set()
  const rows = await database.as(caller, 'live views', tx =>
    tx
      .select({ sid: sql<number>`${channel.channel_sid}` })
      .from(channel)
      .where(sql`${channel.engine_id} = ${engine_id} and ${channel.channel_sid} is not null`),
  )
  return new Set(rows.map(({ sid }) => sid))
}
