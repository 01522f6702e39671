import { EyrieError } from '@eyrie/contract'
import {
  type Aggregations,
  describeUnknownStatistic,
  isStatisticKey,
} from '@eyrie/contract/management/statistic'
import { eq } from 'drizzle-orm'
import { fault } from '../api/fault.ts'
import type { Transaction } from '../db/open.ts'
import { channel, usecase } from '../db/schema/index.ts'

export type UsecaseChannel = typeof channel.$inferSelect & { usecase_key: string; own: Aggregations }

/** Throws EyrieError `id`, naming the field, where there is no usecase of this key. */
export async function usecaseOf(tx: Transaction, usecase_key: string, field: string) {
  const [found] = await tx.select().from(usecase).where(eq(usecase.usecase_key, usecase_key))
  if (found) return found
  throw fault(field, 'no such usecase', { code: 'id' })
}

/** A channel, which is there. Throws EyrieError: `id` where there is no such usecase, `syntax` where its own is another. */
export async function channelOfUsecase(
  tx: Transaction,
  channel_id: string,
  usecase_key: string,
  field: string,
): Promise<UsecaseChannel> {
  const { usecase_id, usecase_aggregations: own } = await usecaseOf(tx, usecase_key, field)
  const [found] = await tx.select().from(channel).where(eq(channel.channel_id, channel_id))
  if (found!.usecase_id === usecase_id) return { ...found!, usecase_key, own }
  throw fault(field, 'the channel is of another usecase')
}

/** The key of the usecase of a channel, which is there. */
export async function usecaseOfChannel(tx: Transaction, channel_id: string): Promise<string> {
  const [found] = await tx
    .select({ usecase_key: usecase.usecase_key })
    .from(channel)
    .innerJoin(usecase, eq(usecase.usecase_id, channel.usecase_id))
    .where(eq(channel.channel_id, channel_id))
  return found!.usecase_key
}

/** Throws EyrieError `syntax` naming the keys that are neither statistics fields nor keys that the usecase has of its own. */
export function requireKeys(keys: readonly { field: string; key: string }[], own: Aggregations): void {
  const unknown = keys.filter(({ key }) => !isStatisticKey(key) && !Object.hasOwn(own, key))
  if (unknown.length === 0) return
  const fields = unknown.map(({ field, key }) => ({
    field,
    reason: describeUnknownStatistic({ input: key }),
  }))
  throw new EyrieError('syntax', fields.map(({ field, reason }) => `${field}: ${reason}`).join('; '), {
    value: { fields },
  })
}
