import { channelRoutes, mediaRoutes, usecaseRoutes } from '@eyrie/contract/management/index'
import { type Egress, getRequestClient } from '@eyrie/kit'
import { and, asc, eq, sql } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { firstRow } from '../../../db/rows.ts'
import { channel, pipeline, site, source, usecase } from '../../../db/schema/index.ts'
import { fieldError, missingRecords } from '../../../errors/field-errors.ts'
import { openLiveView } from '../../../fleet/live-views.ts'
import { findSourceChannels } from '../../../inventory/source-channels.ts'
import type { Secrets } from '../../../secrets/secrets.ts'
import {
  defineLookup,
  defineMultiStepOperation,
  defineOperation,
  type Operation,
} from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'
import { assertReferencesExist } from '../../api/references.ts'
import { createViewTicket } from '../../live/view-tickets.ts'

interface ChannelDependencies {
  secrets: Secrets
  /** Opens the connections to engines. */
  egress: Egress
  now(): Date
}

/**
 * API operations on channels and usecases, and tickets for the live views of channels. A channel is
 * a source that is analysed by a pipeline. Its usecase is what the pipeline looks for.
 * `assertChanged` throws if the caller may read a record but not change it.
 */
export const channelOperations = ({ secrets, egress, now }: ChannelDependencies): Operation[] => [
  defineOperation(channelRoutes.create, async ({ input }, tx) => {
    const { usecase_key: usecaseKey, ...fields } = input
    const location = await connectPipeline(tx, fields.source_id, fields.pipeline_id)
    const usecaseId = await findUsecaseId(tx, usecaseKey)
    const created = firstRow(
      await tx
        .insert(channel)
        .values({ ...fields, ...location, usecase_id: usecaseId })
        .returning(),
    )
    const { channel_id: channelId } = created
    return { value: { channel_id: channelId }, createdId: channelId }
  }),

  defineOperation(channelRoutes.update, async ({ input }, tx) => {
    const { channel_id: channelId, usecase_key: usecaseKey, ...fields } = input
    const current = await getChannel(tx, channelId)
    const {
      source_id: sourceId = current.source_id,
      pipeline_id: pipelineId = current.pipeline_id,
    } = fields

    const values: Partial<typeof channel.$inferInsert> = { channel_id: channelId, ...fields }
    const isReconnected = sourceId !== current.source_id || pipelineId !== current.pipeline_id
    if (isReconnected) {
      Object.assign(values, await connectPipeline(tx, sourceId, pipelineId))
      // The engine assigns a new id to the channel.
      values.channel_sid = null
    }
    if (usecaseKey !== undefined) values.usecase_id = await findUsecaseId(tx, usecaseKey)
    assertChanged(
      await tx.update(channel).set(values).where(eq(channel.channel_id, channelId)).returning(),
    )
  }),

  defineOperation(channelRoutes.delete, async ({ input }, tx) => {
    assertChanged(
      await tx.delete(channel).where(eq(channel.channel_id, input.channel_id)).returning(),
    )
  }),

  defineLookup(channelRoutes.get, async ({ input }, tx) => {
    const [row] = await findSourceChannels(tx, eq(channel.channel_id, input.channel_id))
    return row
  }),

  defineOperation(channelRoutes.list, async ({ input }, tx) => {
    const siteCondition = input.site_id ? eq(channel.site_id, input.site_id) : undefined
    const sourceCondition = input.source_id ? eq(channel.source_id, input.source_id) : undefined
    return { value: await findSourceChannels(tx, and(siteCondition, sourceCondition)) }
  }),

  defineOperation(usecaseRoutes.list, async (_, tx) => ({
    value: await tx.select().from(usecase).orderBy(asc(usecase.usecase_name)),
  })),

  defineMultiStepOperation(mediaRoutes.ticket, async ({ input, caller, context }, database) => {
    const { channel_id: channelId } = input
    await database.as(caller, mediaRoutes.ticket.path, tx =>
      assertReferencesExist(tx, mediaRoutes.ticket, input),
    )
    const { ticket, expires_in } = await openLiveView(database, { secrets, egress }, channelId)
    const viewTicket = createViewTicket(secrets, caller, {
      channel_id: channelId,
      expires: now().getTime() + expires_in * 1000,
    })

    const { protocol, host } = getRequestClient(context)
    // HTTP/1.0 does not require a host.
    const baseUrl = host ? `${protocol}://${host}` : context.req.url
    return { value: { ticket, expires_in, ...createViewUrls(baseUrl, channelId, viewTicket) } }
  }),
]

/**
 * Returns the URLs of the live view of a channel in each format. The ticket in the URLs
 * authorizes the view.
 */
function createViewUrls(baseUrl: string, channelId: string, ticket: string) {
  const createUrl = (format: string) => {
    const url = new URL(`/media/${channelId}/${format}`, baseUrl)
    url.searchParams.set('ticket', ticket)
    return url
  }
  const webSocketUrl = createUrl('ws')
  webSocketUrl.protocol = webSocketUrl.protocol === 'https:' ? 'wss:' : 'ws:'
  return { fmp4: createUrl('fmp4').href, ws: webSocketUrl.href, whep: createUrl('whep').href }
}

/**
 * Prepares the connection of a source to a pipeline: a pipeline without an organization is assigned
 * to the organization of the source. Returns the columns of the channel that its source determines.
 * Throws `EyrieError` (`conflict`) if the source and the pipeline cannot be connected.
 */
async function connectPipeline(tx: Transaction, sourceId: string, pipelineId: string) {
  const sourceRow = await getSource(tx, sourceId)
  const pipelineRow = await getPipeline(tx, pipelineId)
  assertConnectable(sourceRow, pipelineRow)

  const { organization_id, engine_id, site_id } = sourceRow
  if (pipelineRow.organization_id === null) {
    await tx.update(pipeline).set({ organization_id }).where(eq(pipeline.pipeline_id, pipelineId))
  }
  return { engine_id, site_id }
}

/**
 * Throws `EyrieError` (`conflict`) if the pipeline belongs to another organization than the source,
 * or if it runs on another engine than a source that is pinned to its engine.
 */
function assertConnectable(
  sourceRow: Awaited<ReturnType<typeof getSource>>,
  pipelineRow: Awaited<ReturnType<typeof getPipeline>>,
): void {
  // For a source that is not pinned, management creates the pipeline on the engine of the source.
  if (sourceRow.placement === 'pinned' && pipelineRow.engine_id !== sourceRow.engine_id) {
    const reason =
      "runs on another engine than the source: choose a pipeline of the source's engine"
    throw fieldError('pipeline_id', reason, { code: 'conflict' })
  }

  const { organization_id: owner } = pipelineRow
  if (owner !== null && owner !== sourceRow.organization_id) {
    const reason =
      'belongs to another organization than the source: create a pipeline for this organization'
    throw fieldError('pipeline_id', reason, { code: 'conflict' })
  }
}

// The API has checked that the channel, source or pipeline that these functions read exists.

async function getChannel(tx: Transaction, channelId: string) {
  return firstRow(await tx.select().from(channel).where(eq(channel.channel_id, channelId)))
}

async function getSource(tx: Transaction, sourceId: string) {
  return firstRow(
    await tx
      .select({
        engine_id: source.engine_id,
        site_id: source.site_id,
        organization_id: site.organization_id,
        placement: sql<string>`coalesce(${source.source_placement}, ${site.site_placement})`,
      })
      .from(source)
      .innerJoin(site, eq(site.site_id, source.site_id))
      .where(eq(source.source_id, sourceId)),
  )
}

async function getPipeline(tx: Transaction, pipelineId: string) {
  const { engine_id, organization_id } = pipeline
  return firstRow(
    await tx
      .select({ engine_id, organization_id })
      .from(pipeline)
      .where(eq(pipeline.pipeline_id, pipelineId)),
  )
}

/** Returns the id of a usecase. Throws `EyrieError` (`id`) if the usecase does not exist. */
async function findUsecaseId(tx: Transaction, usecaseKey: string): Promise<string> {
  const [row] = await tx.select().from(usecase).where(eq(usecase.usecase_key, usecaseKey))
  if (!row) throw missingRecords([{ field: 'usecase_key', record: 'usecase' }])
  return row.usecase_id
}
