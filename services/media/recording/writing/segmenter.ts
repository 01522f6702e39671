import { TICKS_PER_SECOND } from '@eyrie/contract'
import { displaySize } from '../../gstreamer/picture.ts'
import { ticksToUs } from '../../runtime/stream-time.ts'
import { type SoundTrack, type SoundUnit, toSoundCodecString } from '../../sound/sound-track.ts'
import type { TimedUnit } from '../../stream/live-stream.ts'
import { type PlayableTrack, toCodecString } from '../../stream/sample-entry.ts'
import { MAX_TIME_US } from '../archive/recording-index.ts'
import type { RemoteArchive } from '../archive/remote-archive.ts'
import type { MetadataEntry } from '../format/metadata-lines.ts'
import { createSegmentFragment } from '../format/segment-format.ts'
import type { DiskQueue } from './disk-queue.ts'
import { openSegmentWriter, type SegmentWriter } from './segment-writer.ts'

/**
 * Writes the packets of a source to segment files: MP4 files of a few minutes, which together are
 * the recording. A segment consists of fragments; each has one group of pictures (from a keyframe
 * to the next) or, if keyframes are rare, one second.
 */
export interface Segmenter {
  /**
   * Adds a picture. The first one, and the first one after a loss, must be a keyframe; others
   * are ignored until then.
   */
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
  /** Returns whether the current segment contains a part of this time, in µs since 1970. */
  overlaps(fromUs: number, toUs: number): boolean
  /** Returns the reason why packets are not written; undefined while they are. */
  failure(): string | undefined
  stats(): { bytes: number; dropped: number }
}

export interface SegmenterOptions {
  source: number
  /** Start of this run of the service. Stream times of different epochs are not comparable. */
  epoch: number
  archive: Pick<RemoteArchive, 'beginSegment' | 'growSegment' | 'closeSegment'>
  queue: DiskQueue
  /** Minimum length of a segment, which then ends at the next keyframe. */
  seconds: number
  /** Wall-clock time in µs since 1970. */
  nowUs(): number
  /** Returns the reason why nothing may be written now, such as a full disk. */
  findObstacle(): string | undefined
}

/**
 * A larger gap in stream time, or step of the wall clock, begins a new segment, so that the list of
 * recordings shows the gap.
 */
const GAP_TICKS = 2 * TICKS_PER_SECOND
const CLOCK_STEP_US = 2_000_000
/** A group of pictures that lasts longer is divided into several fragments. */
const MAX_FRAGMENT_TICKS = TICKS_PER_SECOND
const NO_FRAGMENT = new Uint8Array()

/** The segment that is being written. */
interface OpenSegment {
  /** Created with the first fragment, when it is known whether there is sound. */
  writer: SegmentWriter | undefined
  track: PlayableTrack
  sound: SoundTrack | undefined
  /** Stream time at the beginning of the file and at the end of the last unit, in 90 kHz ticks. */
  beginTicks: number
  endTicks: number
  /**
   * Capture time at the beginning of the file and at the end of the last unit, in µs since 1970.
   */
  beginUs: number
  endUs: number
  /** Units of the next fragment. */
  units: TimedUnit[]
  sounds: SoundUnit[]
  /** Number of fragments created so far. */
  fragmentCount: number
}

export function createSegmenter(options: SegmenterOptions): Segmenter {
  const { source, epoch, archive, queue, seconds, nowUs, findObstacle } = options
  let current: OpenSegment | undefined
  /** Metadata that is written with the next fragment. */
  let pendingEntries: MetadataEntry[] = []
  let failure: string | undefined
  /** Whether units were lost, so that nothing can be decoded until the next keyframe. */
  let awaitsKeyframe = false
  let bytes = 0
  let dropped = 0

  /** Returns the capture time. A sender of wrong times must not damage the index. */
  const getTimeUs = ({ timeUs }: TimedUnit) =>
    timeUs !== undefined && timeUs < MAX_TIME_US ? timeUs : nowUs()

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
    failure = `recordings cannot be written: ${describeWriteError(error)}`
    if (current?.writer !== writer) return
    drop(current.units.length)
    current = undefined
  }

  /** Counts units that are lost. The units after them cannot be decoded until the next keyframe. */
  function drop(units: number) {
    dropped += units
    awaitsKeyframe = true
  }

  function flush() {
    if (!current) return
    if (current.units.length === 0) return flushMetadata(current)

    current.writer ??= openWriter(current)
    current.fragmentCount++
    const fragment = createFragment(current, getTimeUs(current.units[0]!))

    if (current.writer.append(fragment, current.endUs, pendingEntries)) {
      bytes += fragment.length
      pendingEntries = []
      failure = undefined
    } else {
      failure =
        'the disk is too slow for the recordings: record fewer cameras, or at a lower bit rate'
      drop(current.units.length)
    }
    current.units = []
    current.sounds = []
  }

  /** Writes metadata that arrived after its pictures were written. */
  function flushMetadata({ writer, endUs }: OpenSegment) {
    if (pendingEntries.length > 0 && writer?.append(NO_FRAGMENT, endUs, pendingEntries)) {
      pendingEntries = []
    }
  }

  function end() {
    flush()
    current?.writer?.close()
    current = undefined
    pendingEntries = []
  }

  /** Returns whether the unit must go to another segment than `segment`. */
  function needsNewSegment(
    segment: OpenSegment,
    unit: TimedUnit,
    { track, sound }: Pick<OpenSegment, 'track' | 'sound'>,
  ): boolean {
    // The unit cannot be played after those of the segment. It is ignored if it is not a keyframe.
    const hasOtherTrack = segment.track !== track
    const isGap = Math.abs(unit.dts - segment.endTicks) > GAP_TICKS
    if (hasOtherTrack || isGap) return true

    // All other reasons can wait for a keyframe.
    if (!unit.keyframe) return false
    const lengthTicks = unit.dts - segment.beginTicks
    const isComplete = lengthTicks >= seconds * TICKS_PER_SECOND
    const clockErrorUs = getTimeUs(unit) - segment.beginUs - ticksToUs(lengthTicks)
    const isClockStep = Math.abs(clockErrorUs) > CLOCK_STEP_US
    // Until the writer exists, no header is written, so the sound of the segment can still change.
    const hasOtherSound = segment.writer !== undefined && segment.sound !== sound
    return isComplete || isClockStep || hasOtherSound
  }

  return {
    addPicture(unit, track, sound) {
      if (current && needsNewSegment(current, unit, { track, sound })) end()

      const obstacle = unit.keyframe ? findObstacle() : undefined
      if (obstacle) {
        end()
        failure = obstacle
        return drop(1)
      }
      if (awaitsKeyframe && !unit.keyframe) return drop(1)

      const firstPending = current?.units[0]
      const isFragmentComplete =
        firstPending && (unit.keyframe || unit.dts - firstPending.dts >= MAX_FRAGMENT_TICKS)
      if (isFragmentComplete) flush()
      // The flush may have failed.
      if (awaitsKeyframe && !unit.keyframe) return drop(1)
      if (!current && !unit.keyframe) return

      awaitsKeyframe = false
      current ??= createOpenSegment(unit, track, getTimeUs(unit))
      if (!current.writer) current.sound = sound
      current.units.push(unit)
      current.endTicks = unit.dts + unit.duration
      // With B-frames, the last unit in decoding order is not the last one in display order.
      current.endUs = Math.max(
        current.endUs,
        getTimeUs(unit) + Math.round(ticksToUs(unit.duration)),
      )
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
    overlaps: (fromUs, toUs) =>
      current !== undefined && current.beginUs < toUs && current.endUs > fromUs,
    failure: () => failure,
    stats: () => ({ bytes, dropped }),
  }
}

function describeWriteError(error: Error): string {
  const isDiskFull = (error as NodeJS.ErrnoException).code === 'ENOSPC'
  return isDiskFull ? 'the disk is full: delete files that are not needed' : error.message
}

function createOpenSegment(unit: TimedUnit, track: PlayableTrack, beginUs: number): OpenSegment {
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
    fragmentCount: 0,
  }
}

/**
 * Creates a fragment of the segment's pending units. Their times become relative to the
 * beginning of the file.
 */
function createFragment(
  { fragmentCount, beginTicks, units, sounds, sound }: OpenSegment,
  timeUs: number,
): Buffer {
  const pictures = withContinuousDurations(units).map(unit => ({
    ...unit,
    pts: unit.pts - beginTicks,
    dts: unit.dts - beginTicks,
  }))

  // The header of the file declares either a sound track or none.
  const recordedSounds = sound ? sounds : []
  const soundUnits = recordedSounds
    .map(unit => ({ ...unit, pts: unit.pts - beginTicks }))
    .filter(({ pts }) => pts >= 0)

  return createSegmentFragment(fragmentCount, pictures, timeUs, soundUnits)
}

/**
 * Makes each unit end where the next one begins, because the durations of packets are unreliable.
 */
function withContinuousDurations(units: readonly TimedUnit[]): TimedUnit[] {
  return units.map((unit, index) => {
    const next = units[index + 1]
    return next ? { ...unit, duration: next.dts - unit.dts } : unit
  })
}
