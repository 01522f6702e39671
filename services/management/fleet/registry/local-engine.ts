import { and, eq, isNotNull, sql } from 'drizzle-orm'
import type { Database, Transaction } from '../../db/database.ts'
import { firstRow } from '../../db/rows.ts'
import { channel, engine, setting } from '../../db/schema/index.ts'
import type { Principal } from '../../rights/principal.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { DEFAULT_SETTINGS, type EngineConnection, updateConnection } from './engine-connection.ts'

/** The engine that runs on this appliance, which is registered automatically. */
export interface LocalEngine {
  url: string
  token: string | undefined
}

/** Name of the setting that stores the id under which the local engine was registered. */
const SETTING_NAME = 'local_engine'

const HTTP_PORT = 80
const HTTPS_PORT = 443

/**
 * Registers the local engine at the first start. Later starts update its address and token. An
 * operator may delete the local engine, which is then not registered again.
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
  const inserted = await tx
    .insert(engine)
    .values({
      ...DEFAULT_SETTINGS,
      ...parseEngineUrl(url),
      engine_name: 'local',
      engine_key: secrets.encrypt(token),
    })
    .returning()
  const { engine_id } = firstRow(inserted)
  await tx.insert(setting).values({ name: SETTING_NAME, value: { engine_id } })
}

/** Does nothing if the operator has deleted the engine. */
async function updateEngine(
  tx: Transaction,
  secrets: Secrets,
  engineId: string,
  { url, token = '' }: LocalEngine,
) {
  const [stored] = await tx.select().from(engine).where(eq(engine.engine_id, engineId))
  if (stored) {
    await updateConnection(tx, secrets, stored, { ...parseEngineUrl(url), engine_key: token })
  }
}

/** Returns the columns of a registered engine that contain its address. */
function parseEngineUrl(url: string): Omit<EngineConnection, 'engine_key'> {
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

/**
 * Returns the id of the local engine, even if the engine has been deleted. Undefined
 * before its registration.
 */
export async function findLocalEngineId(tx: Transaction): Promise<string | undefined> {
  const [row] = await tx.select().from(setting).where(eq(setting.name, SETTING_NAME))
  return (row?.value as { engine_id: string } | undefined)?.engine_id
}

/** Returns the ids that the local engine has assigned to its channels, if `caller` may see them. */
export async function findLocalChannels(
  database: Database,
  caller: Principal,
): Promise<ReadonlySet<number>> {
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
