import type { Shape } from '@eyrie/contract/exports'
import type { Sink as SinkPlan } from '@eyrie/contract/sink'
import { parseInternalSinkAddress, parseSinkAddress } from '@eyrie/contract/zmq-messages'
import type { Log } from '@eyrie/kit/log'
import { getInternalEndpoint } from '@eyrie/kit/paths'
import type { MediaAccess } from '../media/frame-picture.ts'
import type { StreamHost } from '../media/media-client.ts'
import type { Plan } from '../plan/plan.ts'
import { toEmbeddingRecords } from '../sinks/embeddings/embedding-record.ts'
import { PostgresEmbeddingSink } from '../sinks/embeddings/postgres-embedding-sink.ts'
import { isTableAddress, parseTableAddress } from '../sinks/embeddings/table-address.ts'
import { FileSink, parseFileAddress } from '../sinks/file-sink.ts'
import { parseHostedAddress } from '../sinks/hosted-video/hosted-video-address.ts'
import { HostedVideoSink } from '../sinks/hosted-video/hosted-video-sink.ts'
import { MessageSink } from '../sinks/messages/message-sink.ts'
import type { Sink } from '../sinks/sink.ts'
import { parseVideoAddress } from '../sinks/video/video-address.ts'
import { VideoSink } from '../sinks/video/video-sink.ts'

/** The parts of the engine that sinks use. */
export interface SinkContext {
  /** Serves the live streams that `video` sinks record. */
  media: MediaAccess
  streamHost: StreamHost
  /** Lines and zones of a channel. */
  channelShapes(channel: number): Shape[]
  /** Folder that engine and media share. */
  ring: string
  log: Log
}

interface OpenSink {
  plan: SinkPlan
  sink: Sink
}

/** The sinks that are open, by id. */
export class OpenSinks {
  readonly #context: SinkContext
  #open = new Map<number, OpenSink>()
  #closing = Promise.resolve()

  constructor(context: SinkContext) {
    this.#context = context
  }

  /** Opens new sinks and closes removed ones. A sink whose type and address are unchanged remains open. */
  apply(plans: readonly SinkPlan[]): void {
    const before = this.#open
    this.#open = new Map(
      plans.map(plan => {
        const existing = before.get(plan.id)
        if (existing && existing.plan.type === plan.type && existing.plan.address === plan.address)
          return [plan.id, { ...existing, plan }]
        return [plan.id, { plan, sink: openSink(plan, this.#context) }]
      }),
    )
    const open = new Set([...this.#open.values()].map(({ sink }) => sink))
    const removed = [...before.values()].filter(({ sink }) => !open.has(sink))
    this.#closing = Promise.all([this.#closing, ...removed.map(each => this.#close(each))]).then(() => {})
  }

  /** Passes to each sink the channels that feed it. */
  assignChannels({ channels, pipelines }: Pick<Plan, 'channels' | 'pipelines'>): void {
    const sinksByPipeline = new Map(pipelines.map(({ id, sinks }) => [id, sinks]))
    for (const [id, { sink }] of this.#open) {
      const isConnected = (pipeline: number) => sinksByPipeline.get(pipeline)?.includes(id)
      sink.setChannels?.(
        channels.filter(
          ({ pipeline, source }) => isConnected(pipeline) && this.findAccepting([id], source).length > 0,
        ),
      )
    }
  }

  /** The open sinks among `ids` whose filter accepts frames of `source`. */
  findAccepting(ids: readonly number[], source: number): Sink[] {
    return ids.flatMap(id => {
      const open = this.#open.get(id)
      if (!open) return []
      const { filter } = open.plan
      return filter.length === 0 || filter.includes(source) ? open.sink : []
    })
  }

  /** Closes all sinks. Resolves when their records are written. */
  async close(): Promise<void> {
    this.apply([])
    await this.#closing
  }

  async #close({ plan: { id, type }, sink }: OpenSink): Promise<void> {
    await sink.close().catch(error => {
      this.#context.log.error({ err: error, sink: id, type }, 'failed to close sink')
    })
  }
}

/** Opens a sink. Its address was validated when it was configured; errors of disk or network surface as its `failure`. */
function openSink({ type, address }: Pick<SinkPlan, 'type' | 'address'>, context: SinkContext): Sink {
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
    return isTableAddress(address)
      ? new PostgresEmbeddingSink(parseTableAddress(address))
      : new FileSink(parseFileAddress(address), toEmbeddingRecords)
  return new DiscardSink()
}

/** Counts records and discards them. */
export class DiscardSink implements Sink {
  readonly failure = undefined
  #written = 0

  get written(): number {
    return this.#written
  }

  write(): void {
    this.#written++
  }

  async close(): Promise<void> {}
}
