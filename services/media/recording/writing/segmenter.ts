import { TICKS_PER_SECOND } from '@eyrie/contract'
import { displaySize } from '../../gstreamer/picture.ts'
import { type SoundTrack, type SoundUnit, toSoundCodecString } from '../../sound/sound-track.ts'
import type { TimedUnit } from '../../stream/live-stream.ts'
import { type PlayableTrack, toCodecString } from '../../stream/sample-entry.ts'
import type { RemoteArchive } from '../archive/remote-archive.ts'
import type { MetadataEntry } from '../format/metadata-lines.ts'
import { createSegmentFragment } from '../format/segment-format.ts'
import type { DiskQueue } from './disk-queue.ts'
import { openSegmentWriter, type SegmentWriter } from './segment-writer.ts'

export interface SegmenterOptions {
  source: number
  epoch: number
  archive: Pick<RemoteArchive, 'begin' | 'grow' | 'close'>
  queue: DiskQueue
  /** Length of a file, after which the next keyframe begins another. */
  seconds: number
  /** µs since 1970. */
  nowUs(): number
  /** Why nothing may be written now, such as a disk without room. */
  findObstacle(): string | undefined
}

/** Makes files of a source's packets: fragments of a group of pictures or a second, segments by time. */
export interface Segmenter {
  /** The first, and the first after what could not be written, has to be a keyframe: others are left out. */
  addPicture(unit: TimedUnit, track: PlayableTrack, sound?: SoundTrack): void
  /** What is heard before the next picture. */
  addSound(unit: SoundUnit): void
  /** What was found in a picture; kept beside what is being written. */
  addMetadata(note: MetadataEntry): void
  /** Writes what has come so far. */
  flush(): void
  end(): void
  isOpen(): boolean
  /** Why what comes is not written; undefined while it is. */
  failure(): string | undefined
  stats(): { bytes: number; dropped: number }
}

/** A longer hole in what came, or a step of the clock, begins another file, so that it is seen in the list. */
const HOLE_TICKS = 2 * TICKS_PER_SECOND
const HOLE_US = 2_000_000
const NOTHING = new Uint8Array()

interface Current {
  /** Undefined until there is something to write: by then it is known whether there is sound. */
  segment: SegmentWriter | undefined
  track: PlayableTrack
  sound: SoundTrack | undefined
  /** Stream time at the file's beginning, and where the last unit ended, in 90 kHz ticks; its time on the clock. */
  base: number
  end: number
  beginUs: number
  endUs: number
  units: TimedUnit[]
  sounds: SoundUnit[]
  fragments: number
}

export function createSegmenter(options: SegmenterOptions): Segmenter {
  const { source, epoch, archive, queue, seconds, nowUs, findObstacle } = options
  let current: Current | undefined
  let notes: MetadataEntry[] = []
  let failure: string | undefined
  /** Until the next keyframe nothing can be decoded. */
  let broken = false
  let [bytes, dropped] = [0, 0]

  function begin(unit: TimedUnit, track: PlayableTrack): Current {
    const beginUs = timeOf(unit)
    const empty = { segment: undefined, sound: undefined, units: [], sounds: [], fragments: 0 }
    return { ...empty, track, base: unit.dts, end: unit.dts, beginUs, endUs: beginUs }
  }

  function beginFile({ track, sound, base, beginUs }: Current): SegmentWriter {
    const { width, height } = displaySize(track)
    const codecs = [toCodecString(track), ...(sound ? [toSoundCodecString(sound)] : [])].join(',')
    const segment = openSegmentWriter({
      ...{ archive, queue, track, sound, beginUs },
      about: { source, epoch, pts: base, codecs, width, height },
      onFailed: error => fail(segment, error),
    })
    return segment
  }

  function fail(segment: SegmentWriter, error: Error) {
    failure = `recordings cannot be written: ${error.message}`
    if (current?.segment !== segment) return
    drop(current.units.length)
    current = undefined
  }

  function drop(units: number) {
    dropped += units
    broken = true
  }

  function flush() {
    if (!current) return
    if (current.units.length === 0) return keepNotes(current)
    current.segment ??= beginFile(current)
    const { segment, base, units, sound } = current
    const first = units[0]!
    const relative = <Unit extends { pts: number }>(unit: Unit) => ({ ...unit, pts: unit.pts - base })
    const pictures = units.map(unit => ({ ...relative(unit), dts: unit.dts - base }))
    const sounds = sound ? current.sounds.map(relative).filter(({ pts }) => pts >= 0) : []
    const fragment = createSegmentFragment(++current.fragments, spaced(pictures), timeOf(first), sounds)
    if (segment.append(fragment, current.endUs, notes)) {
      bytes += fragment.length
      notes = []
      failure = undefined
    } else {
      failure = 'the disk is too slow for what is recorded: record fewer cameras, or at a lower bit rate'
      drop(units.length)
    }
    current.units = []
    current.sounds = []
  }

  /** What was found in the last pictures is told after them. */
  function keepNotes({ segment, endUs }: Current) {
    if (notes.length > 0 && segment?.append(NOTHING, endUs, notes)) notes = []
  }

  function end() {
    flush()
    current?.segment?.close()
    current = undefined
    notes = []
  }

  /** Whether a unit cannot go on where the last one was. */
  function isOther(unit: TimedUnit, track: PlayableTrack, sound: SoundTrack | undefined): boolean {
    if (!current) return false
    const hole = unit.dts - current.end
    if (current.track !== track || hole < -HOLE_TICKS || hole > HOLE_TICKS) return true
    const length = unit.dts - current.base
    const isStep = Math.abs(timeOf(unit) - current.beginUs - (length * 100) / 9) > HOLE_US
    const isOtherSound = current.segment !== undefined && current.sound !== sound
    return unit.keyframe && (isStep || isOtherSound || length >= seconds * TICKS_PER_SECOND)
  }

  const timeOf = (unit: TimedUnit) => unit.timeUs ?? nowUs()

  return {
    addPicture(unit, track, sound) {
      if (isOther(unit, track, sound)) end()
      const why = unit.keyframe ? findObstacle() : undefined
      if (why) {
        end()
        failure = why
        return drop(1)
      }
      if (broken && !unit.keyframe) return drop(1)
      const pending = current?.units[0]
      if (pending && (unit.keyframe || unit.dts - pending.dts >= TICKS_PER_SECOND)) flush()
      if (broken && !unit.keyframe) return drop(1)
      if (!current && !unit.keyframe) return
      broken = false
      current ??= begin(unit, track)
      if (!current.segment) current.sound = sound
      current.units.push(unit)
      current.end = unit.dts + unit.duration
      // With B-frames the last one to be decoded is not the last to be seen.
      current.endUs = Math.max(current.endUs, timeOf(unit) + Math.round((unit.duration * 100) / 9))
    },
    addSound(unit) {
      current?.sounds.push(unit)
    },
    addMetadata(note) {
      if (current) notes.push(note)
    },
    flush,
    end,
    isOpen: () => current !== undefined,
    failure: () => failure,
    stats: () => ({ bytes, dropped }),
  }
}

/** A sample lasts until the next one begins, whatever the packets say of themselves. */
function spaced<Unit extends TimedUnit>(units: readonly Unit[]): Unit[] {
  return units.map((unit, i) => ({
    ...unit,
    duration: (units[i + 1]?.dts ?? unit.dts + unit.duration) - unit.dts,
  }))
}
