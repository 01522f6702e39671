import { createClient, readHealth } from '@eyrie/client'
import { EyrieError, engineHealth } from '@eyrie/contract'
import type { EnginePlugins } from '@eyrie/contract/management/engine-plugins'
import type { Egress } from '@eyrie/kit'
import type { Database } from '../db/database.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { readEngineRecord } from './registry/engine-record.ts'
import { createEngineTransport } from './registry/engine-transport.ts'

/**
 * Reads the plugins of an engine from the engine. Rejects with `EyrieError`: `id` for an unknown
 * engine, `unavailable` while the engine is unreachable.
 */
export async function readEnginePlugins(
  database: Database,
  { secrets, egress }: { secrets: Secrets; egress: Egress },
  engineId: string,
): Promise<EnginePlugins> {
  const record = await readEngineRecord(database, engineId, secrets)
  if (!record) throw new EyrieError('id', `engine ${engineId} does not exist`)

  const transport = createEngineTransport(egress)
  const [plugins, health] = await Promise.all([
    createClient({ ...record.address, transport }).plugin.list(),
    readHealth(record.address.url, transport),
  ])
  const reported = engineHealth.pick({ plugin_isolation: true }).safeParse(health)
  return {
    engine_id: engineId,
    plugins,
    isolation: reported.success ? reported.data.plugin_isolation : null,
  }
}
