import { codecOf, type PlayableTrack } from '../live/sample-entry.ts'
import type { TimedUnit } from '../live/stream.ts'
import { displaySize } from '../picture.ts'
import type { RemoteArchive } from './remote-archive.ts'
import { beginSegment, type Segment } from './segment.ts'
import { segmentFragment } from './segment-format.ts'
import type { Writer } from './writer.ts'

export interface SegmenterOptions {
  source: number
  epoch: number
  archive: Pick<RemoteArchive, 'begin' | 'grow' | 'close'>
  writer: Writer
  /** Length of a file, after which the next keyframe begins another. */
  seconds: number
  /** µs since 1970. */
  nowUs(): number
  /** Why nothing may be written now, such as a disk without room. */
  obstacle(): string | undefined
}

/** Makes files of a source's packets: fragments of a group of pictures or a second, segments by time. */
export interface Segmenter {
  /** The first, and the first after what could not be written, has to be a keyframe: others are left out. */
  add(unit: TimedUnit, track: PlayableTrack): void
  /** What was found in a picture; kept beside what is being written. */
  note(line: string): void
  /** Writes what has come so far. */
  flush(): void
  end(): void
  open(): boolean
  /** Why what comes is not written; undefined while it is. */
  failure(): string | undefined
  stats(): { bytes: number; dropped: number }
}

const TICKS_PER_SECOND = 90_000
/** A longer hole in what came, or a step of the clock, begins another file, so that it is seen in the list. */
const HOLE_TICKS = 2 * TICKS_PER_SECOND
const HOLE_US = 2_000_000

interface Current {
  segment: Segment
  track: PlayableTrack
  /** Stream time at the file's beginning, and where the last unit ended, in 90 kHz ticks; its time on the clock. */
  base: number
  end: number
  beginUs: number
  endUs: number
  units: TimedUnit[]
  fragments: number
}

export function createSegmenter(options: SegmenterOptions): Segmenter {
  const { source, epoch, archive, writer, seconds, nowUs, obstacle } = options
  let current: Current | undefined
  let lines: string[] = []
  let failure: string | undefined
  /** Until the next keyframe nothing can be decoded. */
  let broken = false
  let [bytes, dropped] = [0, 0]

  function begin(unit: TimedUnit, track: PlayableTrack): Current {
    const { width, height } = displaySize(track)
    const about = { source, epoch, pts: unit.dts, codecs: codecOf(track), width, height }
    const beginUs = timeOf(unit)
    const segment = beginSegment({
      archive,
      writer,
      about,
      track,
      beginUs,
      onFailed: error => fail(segment, error),
    })
    return { segment, track, base: unit.dts, end: unit.dts, beginUs, endUs: beginUs, units: [], fragments: 0 }
  }

  function fail(segment: Segment, error: Error) {
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
    if (!current || current.units.length === 0) return
    const { segment, base, units } = current
    const first = units[0]!
    const relative = units.map(unit => ({ ...unit, dts: unit.dts - base, pts: unit.pts - base }))
    const fragment = segmentFragment(++current.fragments, spaced(relative), timeOf(first))
    if (segment.append(fragment, current.endUs, lines.join(''))) {
      bytes += fragment.length
      lines = []
      failure = undefined
    } else {
      failure = 'the disk is too slow for what is recorded: record fewer cameras, or at a lower bit rate'
      drop(units.length)
    }
    current.units = []
  }

  function end() {
    flush()
    current?.segment.close()
    current = undefined
    lines = []
  }

  /** Whether a unit cannot go on where the last one was. */
  function isOther(unit: TimedUnit, track: PlayableTrack): boolean {
    if (!current) return false
    const hole = unit.dts - current.end
    if (current.track !== track || hole < -HOLE_TICKS || hole > HOLE_TICKS) return true
    const length = unit.dts - current.base
    const isStep = Math.abs(timeOf(unit) - current.beginUs - (length * 100) / 9) > HOLE_US
    return unit.keyframe && (isStep || length >= seconds * TICKS_PER_SECOND)
  }

  const timeOf = (unit: TimedUnit) => unit.timeUs ?? nowUs()

  return {
    add(unit, track) {
      if (isOther(unit, track)) end()
      const why = unit.keyframe ? obstacle() : undefined
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
      current.units.push(unit)
      current.end = unit.dts + unit.duration
      current.endUs = timeOf(unit) + Math.round((unit.duration * 100) / 9)
    },
    note(line) {
      if (current) lines.push(`${line}\n`)
    },
    flush,
    end,
    open: () => current !== undefined,
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
