import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import type { Placement, PlacementOverview } from '@eyrie/contract/management/placement'
import { asc, eq, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { channel, channelState, engine, engineState, site, source } from '../db/schema/index.ts'
import { sourceChannelColumns } from '../inventory/source-channels.ts'
import { planRebalance } from './plan-placement.ts'
import { readPlacementState } from './read-placement-state.ts'

/**
 * Returns all engines with their loads, the placement rules of the sites, and the engine of each
 * source. Must run with all rights.
 */
export async function readOverview(tx: Transaction): Promise<PlacementOverview> {
  const state = await readPlacementState(tx)
  // A plan contains the present load of each engine.
  const loads = new Map(planRebalance(state).engines.map(row => [row.engine_id, row]))
  const costs = new Map(state.sources.map(({ source_id, cores }) => [source_id, cores]))

  const engines = await tx
    .select({
      engine_id: engine.engine_id,
      engine_name: engine.engine_name,
      engine_status: engineState.engine_status,
      engine_reason: engineState.reason,
    })
    .from(engine)
    .leftJoin(engineState, eq(engineState.engine_id, engine.engine_id))
    .orderBy(asc(engine.engine_name), asc(engine.engine_id))
  const sites = await tx
    .select({
      site_id: site.site_id,
      site_name: site.site_name,
      site_placement: site.site_placement,
      site_is_spread: site.site_is_spread,
    })
    .from(site)
    .orderBy(asc(site.site_name), asc(site.site_id))
  const sources = await tx
    .select({
      source_id: source.source_id,
      source_name: source.source_name,
      site_id: source.site_id,
      engine_id: source.engine_id,
      source_placement: source.source_placement,
      placement: sql<Placement>`coalesce(${source.source_placement}, ${site.site_placement})`,
    })
    .from(source)
    .innerJoin(site, eq(site.site_id, source.site_id))
    .orderBy(asc(source.source_name), asc(source.source_id))
  const channels = await tx
    .select({
      source_id: channel.source_id,
      channel_id: channel.channel_id,
      channel_name: channel.channel_name,
      is_active: sourceChannelColumns.is_active,
    })
    .from(channel)
    .leftJoin(channelState, eq(channelState.channel_id, channel.channel_id))
    .orderBy(asc(channel.channel_name), asc(channel.channel_id))
  const channelsBySource = Map.groupBy(channels, ({ source_id }) => source_id)

  return {
    engines: engines.map(row => ({
      ...row,
      engine_status: row.engine_status ?? ENGINE_STATUS.unknown,
      engine_reason: row.engine_reason ?? '',
      cores: loads.get(row.engine_id)?.cores ?? null,
      used: loads.get(row.engine_id)?.used ?? 0,
    })),
    sites,
    sources: sources.map(row => ({
      ...row,
      cores: costs.get(row.source_id) ?? null,
      channels: (channelsBySource.get(row.source_id) ?? []).map(
        ({ source_id: _, ...rest }) => rest,
      ),
    })),
  }
}
