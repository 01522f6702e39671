import { hasSameServer } from '@eyrie/contract/address'
import { type ManagedSource, sourceRoutes } from '@eyrie/contract/management/index'
import { and, asc, eq, ne, type SQL, sql } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { withFullScope } from '../../../db/full-scope.ts'
import { firstRow } from '../../../db/rows.ts'
import {
  channel,
  customer,
  device,
  engine,
  engineState,
  site,
  source,
} from '../../../db/schema/index.ts'
import { isAnyOf } from '../../../db/text-array.ts'
import { fieldError } from '../../../errors/field-errors.ts'
import { removeSourceFromConfigs } from '../../../inventory/pipelines.ts'
import { findSourceChannels } from '../../../inventory/source-channels.ts'
import {
  completeAddress,
  encryptAddress,
  redactStoredAddress,
} from '../../../inventory/stored-addresses.ts'
import { placeNewSource } from '../../../placement/place-new-source.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import { defineLookup, defineOperation, type Operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'

/**
 * API operations on sources, which are the streams of devices that engines read. `source_id` is the
 * id of a source in the database. `source_sid` is the number that the engine has assigned to the
 * source. Responses contain a placeholder instead of passwords and tokens in the address.
 * `assertChanged` throws if the caller may read a source but not change it.
 */
export const sourceOperations = (secrets: Secrets): Operation[] => [
  defineOperation(sourceRoutes.create, async ({ input }, tx) => {
    const siteId = await findSiteId(tx, input.device_id)
    const created = firstRow(
      await tx
        .insert(source)
        .values({
          ...input,
          site_id: siteId,
          source_address: encryptSourceAddress(input.source_address, undefined, secrets),
        })
        .returning(),
    )
    const { source_id: sourceId, engine_id: engineId } = created
    await withFullScope(tx, () => placeNewSource(tx, sourceId, engineId))
    return { createdId: sourceId }
  }),

  defineOperation(sourceRoutes.update, async ({ input }, tx) => {
    const { source_id: sourceId, source_address: address, ...fields } = input
    const siteId = await findSiteId(tx, fields.device_id)
    await assertMovable(tx, sourceId, fields.engine_id)
    // If the source moves to another engine, the number that the old engine has assigned is
    // deleted.
    const sourceSid = sql`case
      when ${source.engine_id} = ${fields.engine_id} then ${source.source_sid}
    end`
    // If the address is omitted, it remains as stored.
    const sourceAddress =
      address !== undefined
        ? encryptSourceAddress(address, await findAddress(tx, sourceId), secrets)
        : undefined
    const values = {
      ...fields,
      site_id: siteId,
      source_sid: sourceSid,
      source_address: sourceAddress,
    }
    assertChanged(
      await tx.update(source).set(values).where(eq(source.source_id, sourceId)).returning(),
    )
  }),

  defineOperation(sourceRoutes.delete, async ({ input }, tx) => {
    assertChanged(await tx.delete(source).where(eq(source.source_id, input.source_id)).returning())
    // The elements of pipelines may have settings for this source.
    await removeSourceFromConfigs(tx, input.source_id)
  }),

  defineLookup(sourceRoutes.get, async ({ input }, tx) => {
    const [row] = await findSources(tx, eq(source.source_id, input.source_id))
    return row
  }),

  defineOperation(sourceRoutes.list, async ({ input }, tx) => ({
    value: await findSources(tx, eq(source.device_id, input.device_id)),
  })),

  defineOperation(sourceRoutes.mapping, async ({ input }, tx) => {
    const { site_id: siteId, is_default: isDefault } = input
    // A request without a site is about the first site of a default customer, or of any other
    // customer if `is_default` is false.
    const condition = siteId ? eq(site.site_id, siteId) : eq(customer.is_default, isDefault)
    const firstSite = await findFirstSite(tx, condition)
    const sources = firstSite ? await findSources(tx, eq(source.site_id, firstSite.site_id)) : []
    // The sources of a site may be on several engines, but the response names only one.
    const busiestEngine = await findBusiestEngine(tx, sources)

    return {
      value: {
        is_default: isDefault,
        site_id: firstSite?.site_id ?? null,
        site_name: firstSite?.site_name ?? '',
        engine_id: busiestEngine?.engine_id ?? null,
        engine_address: busiestEngine?.engine_address ?? '',
        engine_hostname: busiestEngine?.engine_hostname ?? '',
        sources,
      },
    }
  }),
]

/**
 * Returns the first site by name that meets a condition on the site or its customer.
 * Undefined if no site does.
 */
async function findFirstSite(tx: Transaction, condition: SQL) {
  const [firstSite] = await tx
    .select({ site_id: site.site_id, site_name: site.site_name })
    .from(site)
    .innerJoin(customer, eq(customer.customer_id, site.customer_id))
    .where(condition)
    .orderBy(asc(site.site_name))
    .limit(1)
  return firstSite
}

/** Returns the address of a source as stored, or undefined if the source does not exist. */
async function findAddress(tx: Transaction, sourceId: string): Promise<string | undefined> {
  const [row] = await tx
    .select({ address: source.source_address })
    .from(source)
    .where(eq(source.source_id, sourceId))
  return row?.address
}

/** Returns the value to store for the address of a source. It replaces `stored`, if defined. */
function encryptSourceAddress(
  address: string,
  stored: string | undefined,
  secrets: Secrets,
): string {
  const isSameServer =
    stored !== undefined && hasSameServer(completeAddress(address), completeAddress(stored))
  const change = { address, stored, hasSameServer: isSameServer, field: 'source_address' }
  return encryptAddress(change, secrets)
}

/** Returns the sources that meet a condition, each with its channels. */
async function findSources(tx: Transaction, condition: SQL | undefined): Promise<ManagedSource[]> {
  const rows = await tx
    .select()
    .from(source)
    .where(condition)
    .orderBy(asc(source.source_name), asc(source.source_id))
  const ids = rows.map(({ source_id }) => source_id)
  const channels = await findSourceChannels(tx, isAnyOf(channel.source_id, ids))
  const channelsBySource = Map.groupBy(channels, ({ source_id }) => source_id)
  return rows.map(row => ({
    ...row,
    source_address: redactStoredAddress(row.source_address),
    source_channels: channelsBySource.get(row.source_id) ?? [],
  }))
}

/**
 * Returns the site of a device. The API has already checked that the device of a request exists.
 */
async function findSiteId(tx: Transaction, deviceId: string): Promise<string> {
  const [deviceRow] = await tx
    .select({ site_id: device.site_id })
    .from(device)
    .where(eq(device.device_id, deviceId))
  if (!deviceRow) throw new Error(`device ${deviceId} does not exist`)
  return deviceRow.site_id
}

/**
 * Throws `EyrieError` (`conflict`) if a source has channels on another engine than `engineId`. An
 * update of the source would not move its channels.
 */
async function assertMovable(tx: Transaction, sourceId: string, engineId: string): Promise<void> {
  const [otherChannel] = await tx
    .select({ channel_id: channel.channel_id })
    .from(channel)
    .where(and(eq(channel.source_id, sourceId), ne(channel.engine_id, engineId)))
    .limit(1)
  if (otherChannel) {
    throw fieldError(
      'engine_id',
      'the source has channels on another engine: move it with POST /api/v1/placement/update-source',
      { code: 'conflict' },
    )
  }
}

/** Returns the engine that reads the largest number of these sources. Undefined without sources. */
async function findBusiestEngine(tx: Transaction, sources: ManagedSource[]) {
  const sourcesByEngine = Map.groupBy(sources, ({ engine_id }) => engine_id)
  const [busiest] = [...sourcesByEngine].toSorted(([, a], [, b]) => b.length - a.length)
  if (!busiest) return undefined
  const [engineId] = busiest

  const [row] = await tx
    .select({
      engine_id: engine.engine_id,
      engine_address: engine.engine_address,
      engine_hostname: sql<string>`coalesce(${engineState.engine_host_name}, '')`,
    })
    .from(engine)
    .leftJoin(engineState, eq(engineState.engine_id, engine.engine_id))
    .where(eq(engine.engine_id, engineId))
  return row
}
