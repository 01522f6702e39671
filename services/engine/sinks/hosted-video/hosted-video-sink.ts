import type { Shape } from '@eyrie/contract/exports'
import type { HostedStream } from '@eyrie/contract/media'
import type { StreamHost } from '../../media/media-client.ts'
import { toDrawing } from '../../pictures/drawing.ts'
import type { ChannelPlan } from '../../plan/plan.ts'
import type { Sink, SinkRecord } from '../sink.ts'

/** The parts of the engine that the sink uses. */
export interface HostedVideoContext {
  streamHost: StreamHost
  /** Returns the lines and zones of a channel, which are drawn with its results. */
  channelShapes(channel: number): Shape[]
}

/**
 * Serves its channels as annotated streams: the media service draws the results of each frame into
 * the picture. The stream of the channel with the lowest id has the name of the sink, such as
 * `entrance`. The names of the other streams end with the channel id, such as `entrance--7`.
 * Results are drawn only while a client watches the stream.
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
    const sorted = [...channels].sort((a, b) => a.id - b.id)
    const hostedStreams: HostedStream[] = []
    for (const [index, { id, source }] of sorted.entries()) {
      const isFirst = index === 0
      const name = isFirst ? this.#name : `${this.#name}--${id}`
      this.#streams.set(id, name)
      hostedStreams.push({ name, source })
    }
    this.#context.streamHost.setHostedStreams(this, hostedStreams)
  }

  write(record: SinkRecord): void {
    const { channel, n: frameNumber, objects } = record
    const { streamHost, channelShapes } = this.#context
    const stream = this.#streams.get(channel)
    if (!stream || !streamHost.isWatched(stream)) return
    streamHost.draw(stream, frameNumber, toDrawing(objects, channelShapes(channel)))
  }

  /** Removes the streams. */
  async close(): Promise<void> {
    this.#context.streamHost.setHostedStreams(this, [])
  }
}
