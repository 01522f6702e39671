import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
import { channel, engine, setting } from '../../db/schema/index.ts'
import type { Principal } from '../../rights/principal.ts'
import type { Secrets } from '../../secrets/secrets.ts'

/**
 * The engine that runs on this appliance. It is registered automatically; an operator registers all other engines.
 */
export interface LocalEngine {
  url: string
  token: string | undefined
}

/** Name of the setting that stores the id under which the local engine was registered. */
const SETTING_NAME = 'local_engine'

const HTTP_PORT = 80
const HTTPS_PORT = 443

/**
 * Registers the local engine at the first start. Later starts update its address and token. An operator may delete the
 * local engine, which is then not registered again.
 */
export function registerLocalEngine(
  database: Database,
  secrets: Secrets,
  localEngine: LocalEngine,
): Promise<void> {
  return database.system('register the local engine', async tx => {
    const engineId = await findLocalEngineId(tx)
    if (engineId === undefined) await insertEngine(tx, secrets, localEngine)
    else await updateEngine(tx, secrets, engineId, localEngine)
  })
}

async function insertEngine(tx: Transaction, secrets: Secrets, { url, token = '' }: LocalEngine) {
  const [inserted] = await tx
    .insert(engine)
    .values({
      ...parseEngineUrl(url),
      engine_name: 'local',
      engine_key: secrets.encrypt(token),
      engine_timeout: '5s',
      engine_retry: { disable_backoff: false, times: 0, wait_base: 1000 },
    })
    .returning()
  await tx.insert(setting).values({ name: SETTING_NAME, value: { engine_id: inserted!.engine_id } })
}

/** Does nothing if the operator has deleted the engine or if it has not changed. */
async function updateEngine(
  tx: Transaction,
  secrets: Secrets,
  engineId: string,
  { url, token = '' }: LocalEngine,
) {
  const [row] = await tx.select().from(engine).where(eq(engine.engine_id, engineId))
  if (!row) return

  const address = parseEngineUrl(url)
  const isUnchanged =
    row.engine_address === address.engine_address &&
    row.engine_port === address.engine_port &&
    row.engine_is_secure === address.engine_is_secure &&
    secrets.decrypt(row.engine_key) === token
  if (isUnchanged) return

  await tx
    .update(engine)
    .set({ ...address, engine_key: secrets.encrypt(token), engine_updated_at: new Date() })
    .where(eq(engine.engine_id, engineId))
}

/** Returns the columns of a registered engine that contain its address. */
function parseEngineUrl(url: string) {
  const { hostname, port, protocol } = new URL(url)
  const engineIsSecure = protocol === 'https:'
  const defaultPort = engineIsSecure ? HTTPS_PORT : HTTP_PORT
  return {
    // An IPv6 address is stored without the brackets of the URL.
    engine_address: hostname.replace(/^\[(.*)\]$/, '$1'),
    engine_port: Number(port) || defaultPort,
    engine_is_secure: engineIsSecure,
  }
}

/** Returns the id of the local engine, even if the engine has been deleted. Undefined before its registration. */
export async function findLocalEngineId(tx: Transaction): Promise<string | undefined> {
  const [row] = await tx.select().from(setting).where(eq(setting.name, SETTING_NAME))
  return (row?.value as { engine_id: string } | undefined)?.engine_id
}

/** Returns the ids that the local engine has assigned to the channels visible to `caller`. */
export async function findLocalChannels(database: Database, caller: Principal): Promise<ReadonlySet<number>> {
  const engineId = await database.system('live views', findLocalEngineId)
  if (engineId === undefined) return new Set()

  const rows = await database.as(caller, 'live views', tx =>
    tx
      .select({ sid: sql<number>`${channel.channel_sid}` })
      .from(channel)
      .where(and(eq(channel.engine_id, engineId), isNotNull(channel.channel_sid))),
  )
  return new Set(rows.map(({ sid }) => sid))
}
