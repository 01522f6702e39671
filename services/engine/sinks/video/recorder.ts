import type { MediaAccess } from '../../media/frame-picture.ts'
import type { SinkRecord } from '../sink.ts'
import { type AccessUnit, parseAccessUnit } from './mp4-segments.ts'
import { Recording, type RecordingLimits } from './recording.ts'
import { StreamFollower } from './stream-follower.ts'
import { removeDraft } from './video-file.ts'
import { WriteQueue } from './write-queue.ts'

/** The recorded source, and where its recordings are stored. */
export interface RecorderOptions {
  media: MediaAccess
  source: number
  path: string
  limits: RecordingLimits
}

/** Maximum number of results that wait for the pictures that they describe. */
const MAX_PENDING_RESULTS = 1000

interface PendingResult {
  record: SinkRecord
  /** Time base of the record; null if it is unknown. */
  epoch: number | null
}

/**
 * Records one channel. The pictures come from the live stream of the source, which the media
 * service serves. The results come from the channel, usually a little later than their
 * pictures. A recording that is full therefore remains open until the results of its last
 * pictures have arrived.
 */
export class Recorder {
  readonly #path: string
  readonly #limits: RecordingLimits
  readonly #follower: StreamFollower
  readonly #queue = new WriteQueue()
  /** Init segment and epoch (the time base of stream times) of the current connection. */
  #stream: { init: Buffer; epoch: number } | undefined
  /**
   * The open recordings. The last one receives pictures; earlier ones may still receive results.
   */
  #recordings: Recording[] = []
  /** The results that wait for their pictures, oldest first. */
  #pending: PendingResult[] = []
  /**
   * Whether pictures are dropped, because the disk is too slow, until the next keyframe that
   * fits into the queue.
   */
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
        // Without results there is nothing to record, so the failure has no consequences.
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
    if (this.#pending.length > MAX_PENDING_RESULTS) this.#pending.shift()
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
    const recording = this.#selectRecording(unit, fragment.length)
    if (!recording) return
    recording.write(unit, fragment)
    this.#placeResults()
  }

  /**
   * Returns the recording for a picture, which may be a new one; undefined if the
   * picture is not recorded.
   */
  #selectRecording(unit: AccessUnit, fragmentBytes: number): Recording | undefined {
    const { init, epoch } = this.#stream!
    const current = this.#recordings.at(-1)
    const isSameStream = current?.isSameStream(init, epoch) === true
    // A new connection repeats the current group of pictures.
    if (isSameStream && current.contains(unit)) return undefined

    // After a gap or lost pictures, the following pictures cannot be decoded until the next
    // keyframe.
    const continuesCurrent = isSameStream && !current.hasGapBefore(unit)
    const canDecode = unit.isKeyframe || (continuesCurrent && !this.#isOverloaded)
    if (!canDecode) return undefined

    this.#isOverloaded = !this.#queue.hasRoomFor(fragmentBytes)
    if (this.#isOverloaded) return undefined

    // A recording starts with a keyframe.
    const isCurrentFull = unit.isKeyframe && current?.isFullBefore(unit) === true
    if (continuesCurrent && !isCurrentFull) return current

    const next = new Recording({ init, epoch, unit }, this.#path, this.#limits, this.#queue)
    this.#recordings.push(next)
    return next
  }

  /**
   * Adds the pending results to the recordings that contain their pictures, in order, up to the
   * first result whose picture has not arrived yet. Results that are older than the first
   * picture are dropped.
   */
  #placeResults(): void {
    const current = this.#recordings.at(-1)
    if (!current) return
    while (this.#pending.length > 0) {
      const result = this.#pending[0]!
      const { record, epoch } = result
      const recording = this.#findRecording(result)

      // The picture of this result may still arrive, and so may those of all later results.
      const isPictureExpected = recording === current && record.pts > current.newest
      const isStreamExpected = epoch !== null && epoch > current.epoch
      if (isPictureExpected || isStreamExpected) return

      this.#pending.shift()
      if (!recording) continue
      if (this.#queue.hasRoomFor(0)) recording.addResults(record)
      this.#closeBefore(recording)
    }
  }

  /** Returns the recording that contains, or will contain, the picture of a result. */
  #findRecording({ record, epoch }: PendingResult): Recording | undefined {
    return this.#recordings.findLast(recording => {
      const hasSameEpoch = epoch === null || epoch === recording.epoch
      return hasSameEpoch && recording.start <= record.pts
    })
  }

  /** Results arrive in order, so recordings before this one receive no more results. */
  #closeBefore(recording: Recording): void {
    const finished = this.#recordings.splice(0, this.#recordings.indexOf(recording))
    for (const finishedRecording of finished) finishedRecording.close()
  }
}
