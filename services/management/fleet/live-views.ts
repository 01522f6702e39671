import { createClient } from '@eyrie/client'
import { EyrieError, type StreamTicket } from '@eyrie/contract'
import { eq } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { channel, source } from '../db/schema/index.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { readRecord } from './registry/engine-record.ts'

/** Where a channel's pictures are, and a ticket for them. */
export interface LiveView extends Omit<StreamTicket, 'stream'> {
  stream: number
  /** Of the media that serves it. */
  url: string
}

/** Asks the channel's engine. Rejects with EyrieError: `unavailable` where it, its media or the source is not there. */
export async function openLiveView(
  database: Database,
  secrets: Secrets,
  channel_id: string,
): Promise<LiveView> {
  const [found] = await database.system('open a live view', tx =>
    tx
      .select({ engine_id: source.engine_id, source_sid: source.source_sid })
      .from(channel)
      .innerJoin(source, eq(source.source_id, channel.source_id))
      .where(eq(channel.channel_id, channel_id)),
  )
  if (!found) throw new EyrieError('id', `there is no channel ${channel_id}`)
  const record = await readRecord(database, found.engine_id, secrets)
  if (!record || found.source_sid === null)
    throw new EyrieError(
      'unavailable',
      'the source of this channel is not on its engine yet: GET /api/v1/engine/drift says why, should that last',
    )
  const { ticket, expires_in, stream } = await createClient(record.address).streamTicket(found.source_sid)
  const { protocol } = new URL(record.address.url)
  const host = stream.hostname.includes(':') ? `[${stream.hostname}]` : stream.hostname
  return { ticket, expires_in, stream: stream.id, url: `${protocol}//${host}:${stream.port}` }
}
