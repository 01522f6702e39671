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
  /** Minimum length of a segment, which ends at the next keyframe. */
  seconds: number
  /** Wall-clock time in µs since 1970. */
  nowUs(): number
  /** Returns why nothing may be written at the moment, such as a full disk. */
  findObstacle(): string | undefined
}

/** Writes the packets of a source to segments. Each fragment is a GOP or, if keyframes are rare, one second. */
export interface Segmenter {
  /** The first unit, and the first after lost units, must be a keyframe: others are ignored. */
  addPicture(unit: TimedUnit, track: PlayableTrack, sound?: SoundTrack): void
  /** Adds sound from before the next picture. */
  addSound(unit: SoundUnit): void
  /** Adds metadata to the current segment. Ignored without one. */
  addMetadata(entry: MetadataEntry): void
  /** Queues everything added so far as a fragment. */
  flush(): void
  /** Flushes and closes the current segment. */
  end(): void
  isOpen(): boolean
  /** Why packets are not written; undefined while they are. */
  failure(): string | undefined
  stats(): { bytes: number; dropped: number }
}

/** A larger gap in stream time or step of the wall clock begins a new segment, so that the recording list shows it. */
const GAP_TICKS = 2 * TICKS_PER_SECOND
const CLOCK_STEP_US = 2_000_000
const NO_FRAGMENT = new Uint8Array()

interface OpenSegment {
  /** Created with the first fragment, when it is known whether there is sound. */
  writer: SegmentWriter | undefined
  track: PlayableTrack
  sound: SoundTrack | undefined
  /** Stream time at the beginning of the file and at the end of the last unit, in 90 kHz ticks. */
  beginTicks: number
  endTicks: number
  /** The same by the wall clock. */
  beginUs: number
  endUs: number
  /** Units of the next fragment. */
  units: TimedUnit[]
  sounds: SoundUnit[]
  fragments: number
}

export function createSegmenter(options: SegmenterOptions): Segmenter {
  const { source, epoch, archive, queue, seconds, nowUs, findObstacle } = options
  let current: OpenSegment | undefined
  let pendingEntries: MetadataEntry[] = []
  let failure: string | undefined
  /** Units were lost: nothing can be decoded until the next keyframe. */
  let awaitsKeyframe = false
  let bytes = 0
  let dropped = 0

  const getTimeUs = (unit: TimedUnit) => unit.timeUs ?? nowUs()

  function beginSegment(unit: TimedUnit, track: PlayableTrack): OpenSegment {
    const beginUs = getTimeUs(unit)
    return {
      writer: undefined,
      track,
      sound: undefined,
      beginTicks: unit.dts,
      endTicks: unit.dts,
      beginUs,
      endUs: beginUs,
      units: [],
      sounds: [],
      fragments: 0,
    }
  }

  function openWriter({ track, sound, beginTicks, beginUs }: OpenSegment): SegmentWriter {
    const { width, height } = displaySize(track)
    const video = toCodecString(track)
    const codecs = sound ? `${video},${toSoundCodecString(sound)}` : video
    const writer = openSegmentWriter({
      archive,
      queue,
      track,
      sound,
      beginUs,
      info: { source, epoch, pts: beginTicks, codecs, width, height },
      onFailed: error => handleWriteFailure(writer, error),
    })
    return writer
  }

  function handleWriteFailure(writer: SegmentWriter, error: Error) {
    failure = `recordings cannot be written: ${error.message}`
    if (current?.writer !== writer) return
    drop(current.units.length)
    current = undefined
  }

  function drop(units: number) {
    dropped += units
    awaitsKeyframe = true
  }

  function flush() {
    if (!current) return
    if (current.units.length === 0) return flushMetadata(current)
    current.writer ??= openWriter(current)
    const { writer, beginTicks, units, sounds, sound, endUs } = current
    const pictures = withContinuousDurations(units).map(unit => ({
      ...unit,
      pts: unit.pts - beginTicks,
      dts: unit.dts - beginTicks,
    }))
    const soundUnits = sound
      ? sounds.map(unit => ({ ...unit, pts: unit.pts - beginTicks })).filter(({ pts }) => pts >= 0)
      : []
    current.fragments++
    const fragment = createSegmentFragment(current.fragments, pictures, getTimeUs(units[0]!), soundUnits)
    if (writer.append(fragment, endUs, pendingEntries)) {
      bytes += fragment.length
      pendingEntries = []
      failure = undefined
    } else {
      failure = 'the disk is too slow for the recordings: record fewer cameras, or at a lower bit rate'
      drop(units.length)
    }
    current.units = []
    current.sounds = []
  }

  /** Metadata of the last pictures arrives after the pictures were written. */
  function flushMetadata({ writer, endUs }: OpenSegment) {
    if (pendingEntries.length > 0 && writer?.append(NO_FRAGMENT, endUs, pendingEntries)) pendingEntries = []
  }

  function end() {
    flush()
    current?.writer?.close()
    current = undefined
    pendingEntries = []
  }

  /** Whether the unit must go to a new segment. */
  function needsNewSegment(unit: TimedUnit, track: PlayableTrack, sound: SoundTrack | undefined): boolean {
    if (!current) return false
    if (current.track !== track || Math.abs(unit.dts - current.endTicks) > GAP_TICKS) return true
    if (!unit.keyframe) return false
    const ticks = unit.dts - current.beginTicks
    const clockErrorUs = getTimeUs(unit) - current.beginUs - (ticks * 100) / 9
    const hasOtherSound = current.writer !== undefined && current.sound !== sound
    return Math.abs(clockErrorUs) > CLOCK_STEP_US || hasOtherSound || ticks >= seconds * TICKS_PER_SECOND
  }

  return {
    addPicture(unit, track, sound) {
      if (needsNewSegment(unit, track, sound)) end()
      const obstacle = unit.keyframe ? findObstacle() : undefined
      if (obstacle) {
        end()
        failure = obstacle
        return drop(1)
      }
      if (awaitsKeyframe && !unit.keyframe) return drop(1)
      const pending = current?.units[0]
      if (pending && (unit.keyframe || unit.dts - pending.dts >= TICKS_PER_SECOND)) flush()
      // The flush may have failed.
      if (awaitsKeyframe && !unit.keyframe) return drop(1)
      if (!current && !unit.keyframe) return
      awaitsKeyframe = false
      current ??= beginSegment(unit, track)
      if (!current.writer) current.sound = sound
      current.units.push(unit)
      current.endTicks = unit.dts + unit.duration
      // With B-frames, the last unit in decoding order is not the last to be shown.
      current.endUs = Math.max(current.endUs, getTimeUs(unit) + Math.round((unit.duration * 100) / 9))
    },
    addSound(unit) {
      current?.sounds.push(unit)
    },
    addMetadata(entry) {
      if (current) pendingEntries.push(entry)
    },
    flush,
    end,
    isOpen: () => current !== undefined,
    failure: () => failure,
    stats: () => ({ bytes, dropped }),
  }
}

/** Extends or shortens each unit to the start of the next one: durations from packets are unreliable. */
function withContinuousDurations(units: readonly TimedUnit[]): TimedUnit[] {
  return units.map((unit, i) => {
    const next = units[i + 1]
    return next ? { ...unit, duration: next.dts - unit.dts } : unit
  })
}
