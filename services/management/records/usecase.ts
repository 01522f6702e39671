import { EyrieError } from '@eyrie/contract'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../db/open.ts'
import { channel, usecase } from '../db/schema/index.ts'

export type UsecaseChannel = typeof channel.$inferSelect & { usecase_key: string }

/** Throws EyrieError `id`, naming the field, where there is no usecase of this key. */
export async function usecaseOf(tx: Transaction, usecase_key: string, field: string) {
  const [found] = await tx.select().from(usecase).where(eq(usecase.usecase_key, usecase_key))
  if (found) return found
  const reason = 'there is no such usecase'
  throw new EyrieError('id', `${field}: ${reason}`, { value: { fields: [{ field, reason }] } })
}

/** A channel, which is there. Throws EyrieError: `id` where there is no such usecase, `syntax` where its own is another. */
export async function channelOfUsecase(
  tx: Transaction,
  channel_id: string,
  usecase_key: string,
  field: string,
): Promise<UsecaseChannel> {
  const { usecase_id } = await usecaseOf(tx, usecase_key, field)
  const [found] = await tx.select().from(channel).where(eq(channel.channel_id, channel_id))
  if (found!.usecase_id === usecase_id) return { ...found!, usecase_key }
  const reason = 'the channel is of another usecase'
  throw new EyrieError('syntax', `${field}: ${reason}`, { value: { fields: [{ field, reason }] } })
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
