import { join, parse } from 'node:path'
import type { MediaAccess } from '../../media/frame-picture.ts'
import type { ChannelPlan } from '../../plan/plan.ts'
import type { Sink, SinkFrame, SinkRecord } from '../sink.ts'
import { Recorder } from './recorder.ts'
import type { RecordingLimits } from './recording.ts'

export interface VideoSinkOptions extends RecordingLimits {
  path: string
  media: MediaAccess
}

/**
 * Records the channels that feed it: the source's pictures as they came, nothing is encoded again, and a second track
 * with what was found in each analysed frame. The first channel's file has the sink's path, the others' their ids behind.
 */
export class VideoSink implements Sink {
  readonly #options: VideoSinkOptions
  readonly #recorders = new Map<number, { recorder: Recorder; path: string }>()
  #closing: Promise<void> = Promise.resolve()

  constructor(options: VideoSinkOptions) {
    this.#options = options
  }

  get failure(): string | undefined {
    return [...this.#recorders.values()].map(({ recorder }) => recorder.failure).find(Boolean)
  }

  serve(channels: readonly ChannelPlan[]): void {
    const [first] = [...channels].sort((a, b) => a.id - b.id)
    const wanted = new Map(channels.map(plan => [plan.id, this.#pathOf(plan.id, plan === first)]))
    for (const [id, { path, recorder }] of this.#recorders) {
      if (wanted.get(id) === path) continue
      this.#recorders.delete(id)
      this.#closing = Promise.all([this.#closing, recorder.close()]).then(() => {})
    }
    for (const { id, source } of channels) {
      if (this.#recorders.has(id)) continue
      const path = wanted.get(id)!
      const { media, ...limits } = this.#options
      const recorder = new Recorder({ media, source, path, limits })
      this.#recorders.set(id, { recorder, path })
    }
  }

  write(record: SinkRecord, { epoch }: SinkFrame): void {
    this.#recorders.get(record.channel)?.recorder.write(record, epoch)
  }

  async close(): Promise<void> {
    this.serve([])
    await this.#closing
  }

  #pathOf(channel: number, isFirst: boolean): string {
    const { dir, name, ext } = parse(this.#options.path)
    return isFirst ? this.#options.path : join(dir, `${name}-${channel}${ext}`)
  }
}
