import { type ManagedSource, managementRoutes } from '@eyrie/contract/management/index'
import { asc, eq, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { channel, customer, device, engine, engineState, site, source } from '../../../db/schema/index.ts'
import { isAnyOf } from '../../../db/text-array.ts'
import { removeSourceFromConfigs } from '../../../inventory/pipelines.ts'
import { findSourceChannels } from '../../../inventory/source-channels.ts'
import { defineLookup, defineOperation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const routes = managementRoutes.source

export const sourceOperations = [
  defineOperation(routes.create, async ({ input }, tx) => {
    const site_id = await findSiteId(tx, input.device_id)
    const [created] = await tx
      .insert(source)
      .values({ ...input, site_id })
      .returning()
    return { created: created!.source_id }
  }),

  defineOperation(routes.update, async ({ input: { source_id, ...fields } }, tx) => {
    const site_id = await findSiteId(tx, fields.device_id)
    // The source gets a new id when it moves to another engine.
    const source_sid = sql`case when ${source.engine_id} = ${fields.engine_id} then ${source.source_sid} end`
    const values = { ...fields, site_id, source_sid }
    assertChanged(await tx.update(source).set(values).where(eq(source.source_id, source_id)).returning())
    return undefined
  }),

  defineOperation(routes.delete, async ({ input: { source_id } }, tx) => {
    assertChanged(await tx.delete(source).where(eq(source.source_id, source_id)).returning())
    await removeSourceFromConfigs(tx, source_id)
    return undefined
  }),

  defineLookup(routes.id, async ({ input: { source_id } }, tx) => {
    const [row] = await findSources(tx, eq(source.source_id, source_id))
    return row
  }),

  defineOperation(routes.list, async ({ input: { device_id } }, tx) => ({
    value: await findSources(tx, eq(source.device_id, device_id)),
  })),

  defineOperation(routes.mapping, async ({ input: { is_default, site_id } }, tx) => {
    const [first] = await tx
      .select({ site_id: site.site_id, site_name: site.site_name })
      .from(site)
      .innerJoin(customer, eq(customer.customer_id, site.customer_id))
      .where(site_id ? eq(site.site_id, site_id) : eq(customer.is_default, is_default))
      .orderBy(asc(site.site_name))
      .limit(1)
    const sources = first ? await findSources(tx, eq(source.site_id, first.site_id)) : []
    const busiest = await findBusiestEngine(tx, sources)
    return { value: { is_default, ...NO_SITE, ...first, ...busiest, sources } }
  }),
]

const NO_SITE = { site_id: null, site_name: '', engine_id: null, engine_address: '', engine_hostname: '' }

async function findSources(tx: Transaction, condition: SQL | undefined): Promise<ManagedSource[]> {
  const rows = await tx
    .select()
    .from(source)
    .where(condition)
    .orderBy(asc(source.source_name), asc(source.source_id))
  const ids = rows.map(({ source_id }) => source_id)
  const channels = Map.groupBy(
    await findSourceChannels(tx, isAnyOf(channel.source_id, ids)),
    ({ source_id }) => source_id,
  )
  return rows.map(row => ({ ...row, source_channels: channels.get(row.source_id) ?? [] }))
}

async function findSiteId(tx: Transaction, device_id: string): Promise<string> {
  const [row] = await tx.select().from(device).where(eq(device.device_id, device_id))
  return row!.site_id
}

/** Returns the engine that reads the most of these sources. */
async function findBusiestEngine(tx: Transaction, sources: ManagedSource[]) {
  const byEngine = Map.groupBy(sources, ({ engine_id }) => engine_id)
  const [busiest] = [...byEngine].sort(([, a], [, b]) => b.length - a.length)
  if (!busiest) return undefined
  const [row] = await tx
    .select({
      engine_id: engine.engine_id,
      engine_address: engine.engine_address,
      engine_hostname: sql<string>`coalesce(${engineState.engine_host_name}, '')`,
    })
    .from(engine)
    .leftJoin(engineState, eq(engineState.engine_id, engine.engine_id))
    .where(eq(engine.engine_id, busiest[0]))
  return row
}
