import { join, parse } from 'node:path'
import type { MediaAccess } from '../../media/frame-picture.ts'
import type { ChannelPlan } from '../../plan/plan.ts'
import type { Sink, SinkFrame, SinkRecord } from '../sink.ts'
import { Recorder } from './recorder.ts'
import type { RecordingLimits } from './recording.ts'

export interface VideoSinkOptions extends RecordingLimits {
  /** Path of the first channel's recording. */
  path: string
  media: MediaAccess
}

interface ChannelRecording {
  recorder: Recorder
  path: string
}

/**
 * Records its channels as MP4 files: the pictures of the source without re-encoding, and the
 * results of each analysed frame in a second track. The recording of the first channel has the path
 * of the sink; the names of the others end with the channel id.
 */
export class VideoSink implements Sink {
  readonly #options: VideoSinkOptions
  /** By channel id. */
  readonly #recordings = new Map<number, ChannelRecording>()
  /** Resolves when all recorders of removed channels are closed. */
  #closing: Promise<unknown> = Promise.resolve()

  constructor(options: VideoSinkOptions) {
    this.#options = options
  }

  /** The reason of the first recorder that loses records. */
  get failure(): string | undefined {
    for (const { recorder } of this.#recordings.values()) {
      if (recorder.failure) return recorder.failure
    }
    return undefined
  }

  setChannels(channels: readonly ChannelPlan[]): void {
    const paths = this.#choosePaths(channels)

    // A path also changes if its channel becomes the first, or is no longer the first.
    for (const [id, { path, recorder }] of this.#recordings) {
      if (paths.get(id) === path) continue
      this.#recordings.delete(id)
      this.#closing = Promise.all([this.#closing, recorder.close()])
    }

    const { media, ...limits } = this.#options
    for (const { id, source } of channels) {
      if (this.#recordings.has(id)) continue
      const path = paths.get(id)!
      const recorder = new Recorder({ media, source, path, limits })
      this.#recordings.set(id, { recorder, path })
    }
  }

  write(record: SinkRecord, { epoch }: SinkFrame): void {
    this.#recordings.get(record.channel)?.recorder.write(record, epoch)
  }

  async close(): Promise<void> {
    this.setChannels([])
    await this.#closing
  }

  /**
   * Returns the path of each channel's recording by channel id. The channel with the
   * lowest id is the first.
   */
  #choosePaths(channels: readonly ChannelPlan[]): Map<number, string> {
    const { path: sinkPath } = this.#options
    const { dir, name, ext } = parse(sinkPath)
    const firstId = Math.min(...channels.map(({ id }) => id))

    const paths = new Map<number, string>()
    for (const { id } of channels) {
      paths.set(id, id === firstId ? sinkPath : join(dir, `${name}-${id}${ext}`))
    }
    return paths
  }
}
