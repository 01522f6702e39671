import type { MediaAccess } from '../../media/frame-picture.ts'
import type { SinkRecord } from '../sink.ts'
import { parseAccessUnit } from './mp4-segments.ts'
import { Recording, type RecordingLimits } from './recording.ts'
import { StreamFollower } from './stream-follower.ts'
import { removeDraft } from './video-file.ts'
import { WriteQueue } from './write-queue.ts'

export interface RecorderOptions {
  media: MediaAccess
  source: number
  path: string
  limits: RecordingLimits
}

/** Maximum number of results that wait for their pictures. */
const MAX_PENDING = 1000

interface PendingResult {
  record: SinkRecord
  epoch: number | null
}

/**
 * Records one channel. Pictures come from media's live stream of the source, results from the channel, usually a little
 * later: a full file remains open until the results of its last pictures have arrived.
 */
export class Recorder {
  readonly #path: string
  readonly #limits: RecordingLimits
  readonly #follower: StreamFollower
  readonly #queue = new WriteQueue()
  /** Init segment and epoch of the current connection. */
  #stream: { init: Buffer; epoch: number } | undefined
  /** The current recording is last, after full ones that may still receive results. */
  #recordings: Recording[] = []
  #pending: PendingResult[] = []
  #isOverloaded = false
  #streamFailure: string | undefined

  constructor({ media, source, path, limits }: RecorderOptions) {
    this.#path = path
    this.#limits = limits
    this.#queue.add({ bytes: 0, run: () => removeDraft(path) })
    this.#follower = new StreamFollower(media, source, {
      onInit: (init, epoch) => {
        this.#stream = { init, epoch }
        this.#streamFailure = undefined
      },
      onFragment: bytes => this.#handleFragment(bytes),
      onFailure: reason => {
        // While there are no results, a missing stream loses nothing.
        if (this.#pending.length > 0) this.#streamFailure = reason
      },
    })
  }

  get failure(): string | undefined {
    if (this.#queue.error) return `${this.#path} cannot be written: ${this.#queue.error}`
    if (this.#isOverloaded) return `${this.#path}: the disk is too slow, pictures are lost`
    return this.#streamFailure && `${this.#path} cannot be recorded: ${this.#streamFailure}`
  }

  write(record: SinkRecord, epoch: number | null): void {
    this.#pending.push({ record, epoch })
    if (this.#pending.length > MAX_PENDING) this.#pending.shift()
    if (this.#recordings.length === 0) this.#follower.retryNow()
    this.#placeResults()
  }

  /** Resolves when everything has been written or the disk has failed. */
  async close(): Promise<void> {
    await this.#follower.stop()
    for (const recording of this.#recordings) recording.close()
    await this.#queue.close()
  }

  #handleFragment(fragment: Buffer): void {
    const unit = parseAccessUnit(fragment)
    const { init, epoch } = this.#stream!
    const current = this.#recordings.at(-1)
    const isSameStream = current?.isSameStream(init, epoch) === true
    // A new connection repeats the current group of pictures.
    if (current && isSameStream && current.contains(unit)) return
    const continues = current !== undefined && isSameStream && !current.hasGapBefore(unit)
    if (!unit.isKeyframe && (!continues || this.#isOverloaded)) return
    this.#isOverloaded = !this.#queue.hasRoomFor(fragment.length)
    if (this.#isOverloaded) return
    if (!continues || (unit.isKeyframe && current.isFullBefore(unit)))
      this.#recordings.push(new Recording({ init, epoch, unit }, this.#path, this.#limits, this.#queue))
    this.#recordings.at(-1)!.write(unit, fragment)
    this.#placeResults()
  }

  /** Adds pending results to the recordings that hold their pictures. Results older than the first picture are dropped. */
  #placeResults(): void {
    const current = this.#recordings.at(-1)
    if (!current) return
    while (this.#pending.length > 0) {
      const { record, epoch } = this.#pending[0]!
      const recording = this.#recordings.findLast(
        ({ epoch: recordingEpoch, start }) =>
          (epoch === null || epoch === recordingEpoch) && start <= record.pts,
      )
      const isPictureMissing = recording === current && record.pts > current.newest
      if (isPictureMissing || (epoch !== null && epoch > current.epoch)) return
      this.#pending.shift()
      if (this.#queue.hasRoomFor(0)) recording?.addResults(record)
      if (recording) this.#closeBefore(recording)
    }
  }

  /** Results arrive in order: earlier recordings receive no more. */
  #closeBefore(recording: Recording): void {
    const finished = this.#recordings.splice(0, this.#recordings.indexOf(recording))
    for (const each of finished) each.close()
  }
}
