import type { Shape } from '@eyrie/contract/exports'
import type { Sink as SinkPlan } from '@eyrie/contract/sink'
import { parseInternalSinkAddress, parseSinkAddress } from '@eyrie/contract/zmq-messages'
import type { Egress, Log } from '@eyrie/kit'
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

/**
 * Sinks write the results of pipelines to files, tables, other programs or video streams. A filter
 * limits a sink to certain sources.
 */

/** The parts of the engine that sinks use. */
export interface SinkContext {
  /** The media service, which serves the live streams that `video` sinks record. */
  media: MediaAccess
  streamHost: StreamHost
  /** Returns the lines and zones of a channel. */
  channelShapes(channel: number): Shape[]
  /** Folder that the engine and the media service share. */
  ring: string
  /** Opens the connections to programs and databases. */
  egress: Egress
  log: Log
}

interface OpenSink {
  plan: SinkPlan
  sink: Sink
}

/** The sinks that are open, according to the configuration. */
export class OpenSinks {
  readonly #context: SinkContext
  /** By id of the sink. */
  #sinks = new Map<number, OpenSink>()
  /** Resolves when all removed sinks are closed. */
  #closing = Promise.resolve()

  constructor(context: SinkContext) {
    this.#context = context
  }

  /**
   * Opens new sinks and closes removed ones. A sink whose type and address are
   * unchanged remains open.
   */
  apply(plans: readonly SinkPlan[]): void {
    const obsolete = this.#sinks
    this.#sinks = new Map()
    for (const plan of plans) {
      const existing = obsolete.get(plan.id)
      if (existing && isSameTarget(existing.plan, plan)) {
        obsolete.delete(plan.id)
        this.#sinks.set(plan.id, { plan, sink: existing.sink })
      } else {
        this.#sinks.set(plan.id, { plan, sink: openSink(plan, this.#context) })
      }
    }

    const closing = [...obsolete.values()].map(removed => this.#close(removed))
    this.#closing = Promise.all([this.#closing, ...closing]).then(() => {})
  }

  /** Passes to each sink the channels whose results it receives. */
  assignChannels({ channels, pipelines }: Pick<Plan, 'channels' | 'pipelines'>): void {
    for (const [id, { plan, sink }] of this.#sinks) {
      const writingPipelines = pipelines.filter(({ sinks }) => sinks.includes(id))
      const pipelineIds = new Set(writingPipelines.map(pipeline => pipeline.id))
      const writingChannels = channels.filter(
        ({ pipeline, source }) => pipelineIds.has(pipeline) && acceptsSource(plan, source),
      )
      sink.setChannels?.(writingChannels)
    }
  }

  /** Returns the sinks among `ids` whose filter accepts `source`. */
  findAccepting(ids: readonly number[], source: number): Sink[] {
    const accepting: Sink[] = []
    for (const id of ids) {
      const candidate = this.#sinks.get(id)
      if (candidate && acceptsSource(candidate.plan, source)) accepting.push(candidate.sink)
    }
    return accepting
  }

  /** Closes all sinks. Resolves when all results are written. */
  async close(): Promise<void> {
    this.apply([])
    await this.#closing
  }

  async #close({ plan, sink }: OpenSink): Promise<void> {
    const { id, type } = plan
    await sink.close().catch(error => {
      this.#context.log.error({ err: error, sink: id, type }, 'failed to close sink')
    })
  }
}

const isSameTarget = (a: SinkPlan, b: SinkPlan) => a.type === b.type && a.address === b.address

/** An empty filter accepts all sources. */
function acceptsSource({ filter }: SinkPlan, source: number): boolean {
  return filter.length === 0 || filter.includes(source)
}

/**
 * Opens a sink. The address is valid; errors of the disk or network are reported as
 * `failure` of the sink.
 */
function openSink(
  { type, address }: Pick<SinkPlan, 'type' | 'address'>,
  context: SinkContext,
): Sink {
  switch (type) {
    case 'file':
      return new FileSink(parseFileAddress(address))
    case 'video':
      return new VideoSink({ ...parseVideoAddress(address), media: context.media })
    case 'hosted_video':
      return new HostedVideoSink(parseHostedAddress(address), context)
    case 'zmq': {
      const { endpoint, query } = parseSinkAddress(address)
      return new MessageSink({ endpoint, bind: query.bind, query }, context.egress)
    }
    case 'zmqinternal': {
      const { endpoint: name, query } = parseInternalSinkAddress(address)
      const endpoint = getInternalEndpoint(context.ring, name)
      return new MessageSink({ endpoint, bind: true, query }, context.egress)
    }
    case 'embedding':
      return openEmbeddingSink(address, context)
    case 'inf':
      return new DiscardSink()
  }
}

/** Embeddings are written to a database table or to a file, depending on the address. */
function openEmbeddingSink(address: string, { egress }: SinkContext): Sink {
  if (isTableAddress(address)) return new PostgresEmbeddingSink(parseTableAddress(address), egress)
  return new FileSink(parseFileAddress(address), toEmbeddingRecords)
}

/** A sink of type `inf`: counts the results and discards them. */
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
