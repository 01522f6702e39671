import { managementRoutes } from '@eyrie/contract/management/index'
import { and, eq } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { channel, pipeline, source, usecase } from '../../../db/schema/index.ts'
import { fieldError, missingRecords } from '../../../errors/field-errors.ts'
import { findSourceChannels } from '../../../inventory/source-channels.ts'
import { lookup, operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/references.ts'

const routes = managementRoutes.channel

export const channelOperations = [
  operation(routes.create, async ({ input: { usecase_key, ...fields } }, tx) => {
    const place = await placeOf(tx, fields.source_id, fields.pipeline_id)
    const usecase_id = await usecaseOf(tx, usecase_key)
    const [made] = await tx
      .insert(channel)
      .values({ ...fields, ...place, usecase_id })
      .returning()
    const { channel_id } = made!
    return { value: { channel_id }, created: channel_id }
  }),

  operation(routes.update, async ({ input: { channel_id, usecase_key, ...fields } }, tx) => {
    const [before] = await tx.select().from(channel).where(eq(channel.channel_id, channel_id))
    const { source_id = before!.source_id, pipeline_id = before!.pipeline_id } = fields
    const isMoved = source_id !== before!.source_id || pipeline_id !== before!.pipeline_id
    const place = isMoved ? { ...(await placeOf(tx, source_id, pipeline_id)), channel_sid: null } : {}
    const purpose = usecase_key === undefined ? {} : { usecase_id: await usecaseOf(tx, usecase_key) }
    const values = { channel_id, ...fields, ...place, ...purpose }
    assertChanged(await tx.update(channel).set(values).where(eq(channel.channel_id, channel_id)).returning())
    return undefined
  }),

  operation(routes.delete, async ({ input: { channel_id } }, tx) => {
    assertChanged(await tx.delete(channel).where(eq(channel.channel_id, channel_id)).returning())
    return undefined
  }),

  lookup(routes.id, async ({ input: { channel_id } }, tx) => {
    const [found] = await findSourceChannels(tx, eq(channel.channel_id, channel_id))
    return found
  }),

  operation(routes.list, async ({ input: { site_id, source_id } }, tx) => ({
    value: await findSourceChannels(
      tx,
      and(
        site_id ? eq(channel.site_id, site_id) : undefined,
        source_id ? eq(channel.source_id, source_id) : undefined,
      ),
    ),
  })),
]

/** Engine and site follow from the source. Throws EyrieError `conflict` where the pipeline is on another engine. */
async function placeOf(tx: Transaction, source_id: string, pipeline_id: string) {
  const [row] = await tx
    .select({ engine_id: source.engine_id, site_id: source.site_id })
    .from(source)
    .where(eq(source.source_id, source_id))
  const [other] = await tx
    .select({ engine_id: pipeline.engine_id })
    .from(pipeline)
    .where(eq(pipeline.pipeline_id, pipeline_id))
  if (row!.engine_id !== other!.engine_id) {
    const reason = "is on another engine than the source: take one of the source's engine"
    throw fieldError('pipeline_id', reason, { code: 'conflict' })
  }
  return row!
}

async function usecaseOf(tx: Transaction, usecase_key: string): Promise<string> {
  const [found] = await tx.select().from(usecase).where(eq(usecase.usecase_key, usecase_key))
  if (!found) throw missingRecords([{ field: 'usecase_key', record: 'usecase' }])
  return found.usecase_id
}
