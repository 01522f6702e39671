import {
  type Aggregations,
  describeUnknownStatistic,
  isBuiltInKey,
} from '@eyrie/contract/management/statistic'
import { eq, sql } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { firstRow } from '../db/rows.ts'
import { channel, usecase } from '../db/schema/index.ts'
import { fieldError, fieldErrors } from '../errors/field-errors.ts'

/**
 * A channel with its usecase, which is the purpose of its analysis, such as counting
 * people who cross a line.
 */
export type UsecaseChannel = typeof channel.$inferSelect & {
  /** The keys of the statistics that the usecase has. */
  availableKeys: readonly string[]
  /** The statistics that only this usecase has, with their aggregations. */
  customAggregations: Aggregations
}

/**
 * Returns a usecase. Throws `EyrieError` (`id`) about the field `field` if the
 * usecase does not exist.
 */
export async function findUsecase(tx: Transaction, usecaseKey: string, field: string) {
  const [row] = await tx.select().from(usecase).where(eq(usecase.usecase_key, usecaseKey))
  if (!row) throw fieldError(field, 'no such usecase', { code: 'id' })
  return row
}

/**
 * Returns an existing channel, which must have the usecase. Throws `EyrieError` about the field
 * `field`: `id` if the usecase does not exist, `syntax` if the channel has a different usecase.
 */
export async function findChannelOfUsecase(
  tx: Transaction,
  { channel_id, usecase_key, field }: { channel_id: string; usecase_key: string; field: string },
): Promise<UsecaseChannel> {
  const expected = await findUsecase(tx, usecase_key, field)
  const row = firstRow(await tx.select().from(channel).where(eq(channel.channel_id, channel_id)))
  if (row.usecase_id !== expected.usecase_id) {
    throw fieldError(field, 'the channel has a different usecase')
  }
  return {
    ...row,
    availableKeys: expected.usecase_meta_key,
    customAggregations: expected.usecase_aggregations,
  }
}

/** Returns the usecase key of an existing channel. */
export async function findUsecaseKey(tx: Transaction, channelId: string): Promise<string> {
  const rows = await tx
    .select({ usecase_key: usecase.usecase_key })
    .from(channel)
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .where(eq(channel.channel_id, channelId))
  return firstRow(rows).usecase_key
}

/**
 * Throws `EyrieError` (`syntax`) about each key that is neither a built-in statistic
 * nor one of the usecase.
 */
export function assertStatisticKeys(
  keys: readonly { field: string; key: string }[],
  customAggregations: Aggregations,
): void {
  const unknown = keys.filter(
    ({ key }) => !isBuiltInKey(key) && !Object.hasOwn(customAggregations, key),
  )
  if (unknown.length === 0) return

  const fields = unknown.map(({ field, key }) => ({
    field,
    reason: describeUnknownStatistic({ input: key }),
  }))
  throw fieldErrors(fields)
}

/**
 * Returns the IANA time zone of the site of a channel, in which its days and months are counted.
 */
export async function readChannelTimeZone(tx: Transaction, channelId: string): Promise<string> {
  const rows = await tx.execute<{ timezone: string }>(
    sql`select channel_timezone(${channelId}::uuid) as timezone`,
  )
  return firstRow(rows).timezone
}
