import { fileURLToPath } from 'node:url'
import type { Shape } from '@eyrie/contract/exports'
import type { Sink as SinkPlan } from '@eyrie/contract/sink'
import { parseInternalSinkAddress, parseSinkAddress } from '@eyrie/contract/zmq-messages'
import type { Log } from '@eyrie/kit/log'
import { getInternalEndpoint } from '@eyrie/kit/paths'
import type { Hosting } from '../media/media.ts'
import type { MediaAccess } from '../pictures/snapshot.ts'
import { DiscardSink } from './discard.ts'
import { isTable, readTableAddress } from './embeddings/address.ts'
import { embeddingsIn } from './embeddings/embedding.ts'
import { PostgresEmbeddingSink } from './embeddings/postgres.ts'
import { FileSink } from './file.ts'
import { parseHostedAddress } from './hosted-video/address.ts'
import { HostedVideoSink } from './hosted-video/hosted-video.ts'
import { MessageSink } from './messages/messages.ts'
import type { RotatingFileOptions } from './rotating-file.ts'
import type { Sink } from './sink.ts'
import { parseVideoAddress } from './video/address.ts'
import { VideoSink } from './video/video.ts'

/** What sinks use of the engine. */
export interface SinkContext {
  /** Where live views come from. */
  media: MediaAccess
  hosting: Hosting
  /** Lines, zones and the like of a channel. */
  shapesOf(channel: number): Shape[]
  /** Folder that is shared with media. */
  ring: string
  log: Log
}

/** Opens a sink as configured. Its address was checked when it was; what the disk makes of it shows as its `failure`. */
export function openSink({ type, address }: Pick<SinkPlan, 'type' | 'address'>, context: SinkContext): Sink {
  if (type === 'file') return new FileSink(parseFileAddress(address))
  if (type === 'video') return new VideoSink({ ...parseVideoAddress(address), media: context.media })
  if (type === 'hosted_video') return new HostedVideoSink(parseHostedAddress(address), context)
  if (type === 'zmq') {
    const { endpoint, query } = parseSinkAddress(address)
    return new MessageSink({ endpoint, bind: query.bind, query })
  }
  if (type === 'zmqinternal') {
    const { endpoint: name, query } = parseInternalSinkAddress(address)
    return new MessageSink({ endpoint: getInternalEndpoint(context.ring, name), bind: true, query })
  }
  if (type === 'embedding')
    return isTable(address)
      ? new PostgresEmbeddingSink(readTableAddress(address))
      : new FileSink(parseFileAddress(address), embeddingsIn)
  return new DiscardSink()
}

/** `file:///folder/name.jsonl?max_bytes=67108864&keep=5`, or the bare path. A bound that is no number is the default. */
export function parseFileAddress(address: string): RotatingFileOptions {
  const url = new URL(address, 'file://')
  const { searchParams } = url
  const maxBytes = wholeNumber(searchParams.get('max_bytes')) ?? 64 << 20
  const keep = wholeNumber(searchParams.get('keep')) ?? 5
  url.search = ''
  return { path: fileURLToPath(url), maxBytes, keep }
}

const wholeNumber = (text: string | null) => (text && /^\d{1,15}$/.test(text) ? Number(text) : undefined)
