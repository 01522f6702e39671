import { createClient } from '@eyrie/client'
import { EyrieError, type StreamTicket } from '@eyrie/contract'
import type { Egress } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { channel, source } from '../db/schema/index.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { readEngineRecord } from './registry/engine-record.ts'
import { createEngineTransport } from './registry/engine-transport.ts'

/** The video stream of a channel, and a ticket that authorizes clients to play the stream. */
export interface LiveView extends Omit<StreamTicket, 'stream'> {
  /** Id of the stream on its media service. */
  stream: number
  /** Base URL of the media service. */
  url: string
}

/**
 * Requests a ticket for the stream of a channel from the engine. Rejects with `EyrieError`:
 * `id` for an unknown channel, `unavailable` while the engine, its media service or the
 * source is unreachable.
 */
export async function openLiveView(
  database: Database,
  { secrets, egress }: { secrets: Secrets; egress: Egress },
  channelId: string,
): Promise<LiveView> {
  const [row] = await database.system('open a live view', tx =>
    tx
      .select({ engine_id: source.engine_id, source_sid: source.source_sid })
      .from(channel)
      .innerJoin(source, eq(source.source_id, channel.source_id))
      .where(eq(channel.channel_id, channelId)),
  )
  if (!row) throw new EyrieError('id', `channel ${channelId} does not exist`)

  const record = await readEngineRecord(database, row.engine_id, secrets)
  // A source without an id of the engine (`source_sid`) does not exist on the engine yet.
  if (!record || row.source_sid === null) {
    throw new EyrieError(
      'unavailable',
      'the source of this channel is not on its engine yet: ' +
        'if this persists, GET /api/v1/engine/drift shows the reason',
    )
  }

  const engine = createClient({ ...record.address, transport: createEngineTransport(egress) })
  const { ticket, expires_in, stream } = await engine.streamTicket(row.source_sid)
  // The media service uses TLS if its engine does.
  const { protocol } = new URL(record.address.url)
  // A URL contains an IPv6 address in brackets.
  const isIpv6 = stream.hostname.includes(':')
  const host = isIpv6 ? `[${stream.hostname}]` : stream.hostname
  return { ticket, expires_in, stream: stream.id, url: `${protocol}//${host}:${stream.port}` }
}
