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
 * Records its channels: the source's pictures without re-encoding, and a second track with the results of each analysed
 * frame. The file of the first channel has the sink's path; for the others, the channel id is appended.
 */
export class VideoSink implements Sink {
  readonly #options: VideoSinkOptions
  readonly #recorders = new Map<number, { recorder: Recorder; path: string }>()
  #closing: Promise<unknown> = Promise.resolve()

  constructor(options: VideoSinkOptions) {
    this.#options = options
  }

  get failure(): string | undefined {
    return [...this.#recorders.values()].map(({ recorder }) => recorder.failure).find(Boolean)
  }

  setChannels(channels: readonly ChannelPlan[]): void {
    const [first] = [...channels].sort((a, b) => a.id - b.id)
    const paths = new Map(channels.map(plan => [plan.id, this.#toPath(plan.id, plan === first)]))
    for (const [id, { path, recorder }] of this.#recorders) {
      if (paths.get(id) === path) continue
      this.#recorders.delete(id)
      this.#closing = Promise.all([this.#closing, recorder.close()])
    }
    for (const { id, source } of channels) {
      if (this.#recorders.has(id)) continue
      const path = paths.get(id)!
      const { media, ...limits } = this.#options
      const recorder = new Recorder({ media, source, path, limits })
      this.#recorders.set(id, { recorder, path })
    }
  }

  write(record: SinkRecord, { epoch }: SinkFrame): void {
    this.#recorders.get(record.channel)?.recorder.write(record, epoch)
  }

  async close(): Promise<void> {
    this.setChannels([])
    await this.#closing
  }

  #toPath(channel: number, isFirst: boolean): string {
    const { dir, name, ext } = parse(this.#options.path)
    return isFirst ? this.#options.path : join(dir, `${name}-${channel}${ext}`)
  }
}
