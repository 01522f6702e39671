import type { Shape } from '@eyrie/contract/exports'
import type { StreamHost } from '../../media/media-client.ts'
import { toDrawing } from '../../pictures/drawing.ts'
import type { ChannelPlan } from '../../plan/plan.ts'
import type { Sink, SinkRecord } from '../sink.ts'

export interface HostedVideoContext {
  streamHost: StreamHost
  channelShapes(channel: number): Shape[]
}

/**
 * Serves its channels as annotated streams: media draws the results of each frame into it. The stream of the first channel
 * has the sink's name; for the others, the channel id is appended. Nothing is drawn unless a client watches.
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

  /** Frames that media skips are not a failure: a live stream is not a record. */
  get failure(): string | undefined {
    const { streamHost } = this.#context
    return [...this.#streams.values()].map(stream => streamHost.streamFailure(stream)).find(Boolean)
  }

  setChannels(channels: readonly ChannelPlan[]): void {
    this.#streams.clear()
    const oldestFirst = [...channels].sort((a, b) => a.id - b.id)
    const hosted = oldestFirst.map(({ id, source }, i) => {
      const name = i === 0 ? this.#name : `${this.#name}--${id}`
      this.#streams.set(id, name)
      return { name, source }
    })
    this.#context.streamHost.setHostedStreams(this, hosted)
  }

  write(record: SinkRecord): void {
    const stream = this.#streams.get(record.channel)
    const { streamHost, channelShapes } = this.#context
    if (stream && streamHost.isWatched(stream))
      streamHost.draw(stream, record.n, toDrawing(record.objects, channelShapes(record.channel)))
  }

  async close(): Promise<void> {
    this.#context.streamHost.setHostedStreams(this, [])
  }
}
