import type { Shape } from '@eyrie/contract/exports'
import type { Hosting } from '../../media/media-client.ts'
import { toDrawing } from '../../pictures/drawing.ts'
import type { ChannelPlan } from '../../plan/plan.ts'
import type { Sink, SinkRecord } from '../sink.ts'

export interface HostedVideoContext {
  hosting: Hosting
  channelShapes(channel: number): Shape[]
}

/**
 * Serves the channels that feed it as annotated streams: media draws each frame's own results into it. The first
 * channel's stream has the sink's name, the others' their ids behind. Nothing is drawn while nobody watches.
 */
export class HostedVideoSink implements Sink {
  readonly #name: string
  readonly #context: HostedVideoContext
  readonly #streams = new Map<number, string>()

  constructor(name: string, context: HostedVideoContext) {
    this.#name = name
    this.#context = context
  }

  /** What media cannot keep up with is no failure: a stream is no record. */
  get failure(): string | undefined {
    const { hosting } = this.#context
    return [...this.#streams.values()].map(stream => hosting.failureOf(stream)).find(Boolean)
  }

  serve(channels: readonly ChannelPlan[]): void {
    this.#streams.clear()
    const byAge = [...channels].sort((a, b) => a.id - b.id)
    const hosted = byAge.map(({ id, source }, i) => {
      const name = i === 0 ? this.#name : `${this.#name}--${id}`
      this.#streams.set(id, name)
      return { name, source }
    })
    this.#context.hosting.host(this, hosted)
  }

  write(record: SinkRecord): void {
    const stream = this.#streams.get(record.channel)
    const { hosting, channelShapes } = this.#context
    if (stream && hosting.isWatched(stream))
      hosting.draw(stream, record.n, toDrawing(record.objects, channelShapes(record.channel)))
  }

  async close(): Promise<void> {
    this.#context.hosting.host(this, [])
  }
}
