import type { Shape } from '@eyrie/contract/exports'
import type { HostedStream } from '@eyrie/contract/media'
import type { StreamHost } from '../../media/media-client.ts'
import { toDrawing } from '../../pictures/drawing.ts'
import type { ChannelPlan } from '../../plan/plan.ts'
import type { Sink, SinkRecord } from '../sink.ts'

/** The parts of the engine that the sink uses. */
export interface HostedVideoContext {
  streamHost: StreamHost
  channelShapes(channel: number): Shape[]
}

/**
 * Serves its channels as annotated streams: the media service draws the results of each frame into
 * the picture. The stream of the first channel has the name of the sink. The names of the other
 * streams end with the channel id. Results are drawn only while a client watches the stream.
 */
export class HostedVideoSink implements Sink {
  readonly #name: string
  readonly #context: HostedVideoContext
  /** Stream names by channel. */
  readonly #streams = new Map<number, string>()

  constructor(name: string, context: HostedVideoContext) {
    this.#name = name
    this.#context = context
  }

  /** Skipped frames are no failure, because a live stream need not be complete. */
  get failure(): string | undefined {
    for (const stream of this.#streams.values()) {
      const failure = this.#context.streamHost.streamFailure(stream)
      if (failure) return failure
    }
    return undefined
  }

  setChannels(channels: readonly ChannelPlan[]): void {
    this.#streams.clear()
    const oldestFirst = [...channels].sort((a, b) => a.id - b.id)
    const hostedStreams: HostedStream[] = []
    for (const [index, { id, source }] of oldestFirst.entries()) {
      const name = index === 0 ? this.#name : `${this.#name}--${id}`
      this.#streams.set(id, name)
      hostedStreams.push({ name, source })
    }
    this.#context.streamHost.setHostedStreams(this, hostedStreams)
  }

  write(record: SinkRecord): void {
    const { channel, n, objects } = record
    const { streamHost, channelShapes } = this.#context
    const stream = this.#streams.get(channel)
    if (!stream || !streamHost.isWatched(stream)) return
    streamHost.draw(stream, n, toDrawing(objects, channelShapes(channel)))
  }

  async close(): Promise<void> {
    this.#context.streamHost.setHostedStreams(this, [])
  }
}
