import { managementRoutes } from '@eyrie/contract/management/index'
import { and, asc, eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { channel, pipeline, source, usecase } from '../../../db/schema/index.ts'
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
import { assertChanged, assertReferencesExist } from '../../api/references.ts'

const routes = managementRoutes.channel
const { ticket: ticketRoute } = managementRoutes.media

/** Channels, their usecases, and tickets for their live views. */
export const channelOperations = (secrets: Secrets): Operation[] => [
  defineOperation(routes.create, async ({ input: { usecase_key, ...fields } }, tx) => {
    const location = await findLocation(tx, fields.source_id, fields.pipeline_id)
    const usecase_id = await findUsecaseId(tx, usecase_key)
    const [created] = await tx
      .insert(channel)
      .values({ ...fields, ...location, usecase_id })
      .returning()
    const { channel_id } = created!
    return { value: { channel_id }, created: channel_id }
  }),

  defineOperation(routes.update, async ({ input: { channel_id, usecase_key, ...fields } }, tx) => {
    const [before] = await tx.select().from(channel).where(eq(channel.channel_id, channel_id))
    const { source_id = before!.source_id, pipeline_id = before!.pipeline_id } = fields
    const values: Partial<typeof channel.$inferInsert> = { channel_id, ...fields }
    if (source_id !== before!.source_id || pipeline_id !== before!.pipeline_id)
      Object.assign(values, await findLocation(tx, source_id, pipeline_id), { channel_sid: null })
    if (usecase_key !== undefined) values.usecase_id = await findUsecaseId(tx, usecase_key)
    assertChanged(await tx.update(channel).set(values).where(eq(channel.channel_id, channel_id)).returning())
    return undefined
  }),

  defineOperation(routes.delete, async ({ input: { channel_id } }, tx) => {
    assertChanged(await tx.delete(channel).where(eq(channel.channel_id, channel_id)).returning())
    return undefined
  }),

  defineLookup(routes.id, async ({ input: { channel_id } }, tx) => {
    const [row] = await findSourceChannels(tx, eq(channel.channel_id, channel_id))
    return row
  }),

  defineOperation(routes.list, async ({ input: { site_id, source_id } }, tx) => {
    const isAtSite = site_id ? eq(channel.site_id, site_id) : undefined
    const hasSource = source_id ? eq(channel.source_id, source_id) : undefined
    return { value: await findSourceChannels(tx, and(isAtSite, hasSource)) }
  }),

  defineOperation(managementRoutes.usecase.list, async (_, tx) => ({
    value: await tx.select().from(usecase).orderBy(asc(usecase.usecase_name)),
  })),

  defineMultiStepOperation(ticketRoute, async ({ input, caller, context }, database) => {
    const { channel_id } = input
    await database.as(caller, ticketRoute.path, tx => assertReferencesExist(tx, ticketRoute, input))
    const { ticket, expires_in } = await openLiveView(database, secrets, channel_id)
    const toUrl = (format: string) => {
      const url = new URL(`/media/${channel_id}/${format}`, context.req.url)
      url.searchParams.set('ticket', ticket)
      return url
    }
    const ws = toUrl('ws')
    ws.protocol = ws.protocol === 'https:' ? 'wss:' : 'ws:'
    return { value: { ticket, expires_in, fmp4: toUrl('fmp4').href, ws: ws.href, whep: toUrl('whep').href } }
  }),
]

/** Returns engine and site of the source. Throws `EyrieError` (`conflict`) if the pipeline runs on another engine. */
async function findLocation(tx: Transaction, source_id: string, pipeline_id: string) {
  const [location] = await tx
    .select({ engine_id: source.engine_id, site_id: source.site_id })
    .from(source)
    .where(eq(source.source_id, source_id))
  const [assigned] = await tx
    .select({ engine_id: pipeline.engine_id })
    .from(pipeline)
    .where(eq(pipeline.pipeline_id, pipeline_id))
  if (location!.engine_id !== assigned!.engine_id) {
    const reason = "runs on another engine than the source: choose a pipeline of the source's engine"
    throw fieldError('pipeline_id', reason, { code: 'conflict' })
  }
  return location!
}

async function findUsecaseId(tx: Transaction, usecase_key: string): Promise<string> {
  const [row] = await tx.select().from(usecase).where(eq(usecase.usecase_key, usecase_key))
  if (!row) throw missingRecords([{ field: 'usecase_key', record: 'usecase' }])
  return row.usecase_id
}
