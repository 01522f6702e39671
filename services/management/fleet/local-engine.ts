import { eq } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { engine } from '../db/schema/index.ts'
import { keepLocalEngineId, localEngineId } from '../records/local-engine.ts'
import type { Secrets } from '../secrets/secrets.ts'

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
