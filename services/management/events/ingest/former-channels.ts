import { and, eq, isNull } from 'drizzle-orm'
import type { Transaction } from '../../db/database.ts'
import { formerChannel } from '../../db/schema/index.ts'
import type { IngestChannel } from './ingest-channels.ts'
import type { OutputProgress } from './output-position.ts'

/**
 * Records when an engine has begun to analyse channels that were moved to it: from then on,
 * messages of their earlier engines no longer count. Must be called in the transaction that
 * stores the messages.
 */
export async function recordSuccessions(
  tx: Transaction,
  messages: OutputProgress['messages'],
  channels: ReadonlyMap<number, IngestChannel>,
): Promise<void> {
  const begun = new Set(messages.filter(isAnalysing).map(({ message }) => message.channel))
  for (const sid of begun) {
    const channel = sid === null ? undefined : channels.get(sid)
    if (!channel || channel.acceptedBeforeMs !== undefined) continue
    const times = messages
      .filter(
        ({ message }) =>
          message.channel === sid && (message.kind !== 'state' || isAnalysing({ message })),
      )
      .map(({ message }) => Date.parse(message.time))
    await tx
      .update(formerChannel)
      .set({ succeeded_at: new Date(Math.min(...times)) })
      .where(
        and(eq(formerChannel.channel_id, channel.channel_id), isNull(formerChannel.succeeded_at)),
      )
  }
}

/** Whether a message reports that a channel has begun to analyse frames. */
const isAnalysing = ({ message }: Pick<OutputProgress['messages'][number], 'message'>) =>
  message.kind === 'state' &&
  (message.data.state === 'running' || message.data.state === 'degraded') &&
  !message.data.lost
