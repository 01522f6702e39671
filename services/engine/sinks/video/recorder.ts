import type { MediaAccess } from '../../media/frame-picture.ts'
import type { SinkRecord } from '../sink.ts'
import { Recording, type RecordingLimits } from './recording.ts'
import { unitOf } from './segments.ts'
import { StreamFollower } from './stream-follower.ts'
import { removeDraft } from './video-file.ts'
import { WriteQueue } from './write-queue.ts'

export interface RecorderOptions {
  media: MediaAccess
  source: number
  path: string
  limits: RecordingLimits
}

/** Results that may wait for their pictures. */
const MOST_WAITING = 1000

interface Waiting {
  record: SinkRecord
  epoch: number | null
}

/**
 * Records one channel. The picture comes from media's live view of the source, results from the channel, usually a
 * little later: a file that is full stays open until the results of its last pictures have come.
 */
export class Recorder {
  readonly #path: string
  readonly #limits: RecordingLimits
  readonly #follower: StreamFollower
  readonly #queue = new WriteQueue()
  #beginning: { init: Buffer; epoch: number } | undefined
  /** The current one last; before it, those that may still get results. */
  #recordings: Recording[] = []
  #waiting: Waiting[] = []
  #isOverrun = false
  #refusal: string | undefined

  constructor({ media, source, path, limits }: RecorderOptions) {
    this.#path = path
    this.#limits = limits
    this.#queue.add({ bytes: 0, run: () => removeDraft(path) })
    this.#follower = new StreamFollower(media, source, {
      begun: (init, epoch) => {
        this.#beginning = { init, epoch }
        this.#refusal = undefined
      },
      fragment: bytes => this.#take(bytes),
      refused: reason => {
        // Nothing is lost by a stream that has not begun while there are no results.
        if (this.#waiting.length > 0) this.#refusal = reason
      },
    })
  }

  get failure(): string | undefined {
    if (this.#queue.error) return `${this.#path} cannot be written: ${this.#queue.error}`
    if (this.#isOverrun) return `${this.#path}: the disk is too slow, pictures are lost`
    return this.#refusal && `${this.#path} cannot be recorded: ${this.#refusal}`
  }

  write(record: SinkRecord, epoch: number | null): void {
    this.#waiting.push({ record, epoch })
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift()
    if (this.#recordings.length === 0) this.#follower.hurry()
    this.#placeResults()
  }

  /** Resolves when everything is on the disk, or the disk has refused it. */
  async close(): Promise<void> {
    await this.#follower.stop()
    for (const recording of this.#recordings) recording.close()
    await this.#queue.close()
  }

  #take(fragment: Buffer): void {
    const unit = unitOf(fragment)
    const { init, epoch } = this.#beginning!
    const current = this.#recordings.at(-1)
    const goesOn = current?.isOf(init, epoch) && !current.isBrokenOffBefore(unit)
    // A new connection repeats the group of pictures under way.
    if (current?.isOf(init, epoch) && current.holds(unit)) return
    if (!unit.keyframe && (!goesOn || this.#isOverrun)) return
    this.#isOverrun = !this.#queue.takes(fragment.length)
    if (this.#isOverrun) return
    if (!current || !goesOn || (unit.keyframe && current.isFullBefore(unit)))
      this.#recordings.push(new Recording({ init, epoch, unit }, this.#path, this.#limits, this.#queue))
    this.#recordings.at(-1)!.write(unit, fragment)
    this.#placeResults()
  }

  /** Results go where their pictures are; those from before the first picture go nowhere. */
  #placeResults(): void {
    const current = this.#recordings.at(-1)
    for (let next = this.#waiting[0]; next && current; next = this.#waiting[0]) {
      const { record, epoch } = next
      const isOf = ({ epoch: its, start }: Recording) => its === (epoch ?? its) && start <= record.pts
      const recording = this.#recordings.findLast(isOf)
      if (recording === current && record.pts > current.newest) return
      if (epoch !== null && epoch > current.epoch) return
      this.#waiting.shift()
      if (this.#queue.takes(0)) recording?.note(record)
      if (recording) this.#endBefore(recording)
    }
  }

  #endBefore(recording: Recording): void {
    const past = this.#recordings.splice(0, this.#recordings.indexOf(recording))
    for (const each of past) each.close()
  }
}
