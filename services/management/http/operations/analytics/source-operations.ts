import { type ManagedSource, managementRoutes } from '@eyrie/contract/management/index'
import { and, asc, eq, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { channel, customer, device, engine, engineState, site, source } from '../../../db/schema/index.ts'
import { isAnyOf } from '../../../db/text-array.ts'
import { removeSourceFromConfigs } from '../../../inventory/pipelines.ts'
import { findSourceChannels } from '../../../inventory/source-channels.ts'
import { lookup, operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const routes = managementRoutes.source

export const sourceOperations = [
  operation(routes.create, async ({ input }, tx) => {
    const site_id = await siteOf(tx, input.device_id)
    const [made] = await tx
      .insert(source)
      .values({ ...input, site_id })
      .returning()
    return { created: made!.source_id }
  }),

  operation(routes.update, async ({ input: { source_id, ...fields } }, tx) => {
    const site_id = await siteOf(tx, fields.device_id)
    // Its id on one engine means nothing on another.
    const source_sid = sql`case when ${source.engine_id} = ${fields.engine_id} then ${source.source_sid} end`
    const values = { ...fields, site_id, source_sid }
    assertChanged(await tx.update(source).set(values).where(eq(source.source_id, source_id)).returning())
    return undefined
  }),

  operation(routes.delete, async ({ input: { source_id } }, tx) => {
    assertChanged(await tx.delete(source).where(eq(source.source_id, source_id)).returning())
    await removeSourceFromConfigs(tx, source_id)
    return undefined
  }),

  lookup(routes.id, async ({ input: { source_id } }, tx) => {
    const [found] = await sources(tx, eq(source.source_id, source_id))
    return found
  }),

  operation(routes.list, async ({ input: { device_id } }, tx) => ({
    value: await sources(tx, eq(source.device_id, device_id)),
  })),

  operation(routes.mapping, async ({ input: { is_default, site_id } }, tx) => {
    const [place] = await tx
      .select({ site_id: site.site_id, site_name: site.site_name })
      .from(site)
      .innerJoin(customer, eq(customer.customer_id, site.customer_id))
      .where(site_id ? eq(site.site_id, site_id) : eq(customer.is_default, is_default))
      .orderBy(asc(site.site_name))
      .limit(1)
    const found = place ? await sources(tx, eq(source.site_id, place.site_id)) : []
    return {
      value: { is_default, ...nowhere, ...place, ...(await busiestEngine(tx, found)), sources: found },
    }
  }),
]

const nowhere = { site_id: null, site_name: '', engine_id: null, engine_address: '', engine_hostname: '' }

async function sources(tx: Transaction, condition: SQL | undefined): Promise<ManagedSource[]> {
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

async function siteOf(tx: Transaction, device_id: string): Promise<string> {
  const [found] = await tx.select().from(device).where(eq(device.device_id, device_id))
  return found!.site_id
}

/** The engine that reads most of the sources. */
async function busiestEngine(tx: Transaction, found: ManagedSource[]) {
  const byEngine = Map.groupBy(found, ({ engine_id }) => engine_id)
  const [most] = [...byEngine].sort(([, a], [, b]) => b.length - a.length)
  if (!most) return undefined
  const [row] = await tx
    .select({
      engine_id: engine.engine_id,
      engine_address: engine.engine_address,
      engine_hostname: sql<string>`coalesce(${engineState.engine_host_name}, '')`,
    })
    .from(engine)
    .leftJoin(engineState, eq(engineState.engine_id, engine.engine_id))
    .where(and(eq(engine.engine_id, most[0])))
  return row
}
