import {
  type EventToRecord,
  type Recording,
  type RecordingState,
  type ResultToRecord,
  TICKS_PER_SECOND,
} from '@eyrie/contract'
import { ticksToUs } from '../../runtime/stream-time.ts'
import type { SoundTrack, SoundUnit } from '../../sound/sound-track.ts'
import type { Sound } from '../../sound/source-sound.ts'
import { createGopBuffer, type Gop } from '../../stream/gop-buffer.ts'
import type { Stream, StreamUnit, Track } from '../../stream/live-stream.ts'
import { isPlayable } from '../../stream/sample-entry.ts'
import { type MetadataEntry, toEventEntry, toResultEntry } from '../format/metadata-lines.ts'
import { followInterleaved, type InterleavedPackets } from './interleaved-packets.ts'
import type { Segmenter } from './segmenter.ts'

/** What a recorder records: the pictures and the sound of one source. */
export interface RecordingInput {
  stream: Stream<Track>
  sound: Pick<Sound, 'listenToAac'> | undefined
}

/**
 * `bytes` have been queued for the disk since the start; `dropped` is the number of lost pictures.
 */
export interface RecorderStatus {
  state: RecordingState
  reason?: string | undefined
  bytes: number
  dropped: number
}

/**
 * Records one source, either continuously or only around events. For a recording around an event,
 * it buffers the last seconds, because the recording begins before the event.
 */
export interface Recorder {
  readonly stream: Stream<Track>
  configure(recording: Recording): void
  addEvent(event: EventToRecord): void
  addResult(result: ResultToRecord): void
  status(): RecorderStatus
  /**
   * Prepares the deletion of this time, in µs since 1970: closes the current segment if it contains
   * a part of the time, so that the next keyframe begins a new one. Pictures that wait for their
   * sound are in the closed one. A later event cannot record the time either, nor what is buffered
   * from before it.
   */
  prepareDeletion(fromUs: number, toUs: number): void
  /** Must be called once a second. Closes the current segment when the source is silent. */
  checkSilence(): void
  stop(): void
}

/**
 * The current segment is closed after this time without a picture. A shorter pause of a network
 * loses no picture: they follow at once, and a new segment could begin only at the next keyframe.
 */
const MAX_SILENCE_S = 10
/** Maximum delay of an event after its picture. */
const MAX_EVENT_DELAY_S = 5
/** Maximum delay of an analysis result after its picture. */
const MAX_RESULT_DELAY_TICKS = 2 * TICKS_PER_SECOND
/** Size limit of the packets that are buffered for a possible event. */
const MAX_BUFFERED_BYTES = 64 << 20
/**
 * Maximum number of sound units, and of metadata entries, that are buffered for a possible event.
 */
const MAX_BUFFERED_ITEMS = 4000

export function createRecorder(
  { stream, sound }: RecordingInput,
  segmenter: Segmenter,
  initial: Recording,
): Recorder {
  let recording = initial
  let packets: InterleavedPackets | undefined
  const writer = createUnitWriter(segmenter, () => packets?.soundTrack())
  /** The last groups of pictures (GOPs). Each begins with a keyframe. */
  const gops = createGopBuffer(MAX_BUFFERED_BYTES)
  /**
   * Metadata and sound of the last seconds, which are written if an event occurs.
   * Filled in event mode only.
   */
  const recentEntries = createRecentItems<MetadataEntry>()
  const recentSounds = createRecentItems<SoundUnit>()
  /**
   * Changes only at keyframes, so that the recording of a later event can continue exactly where
   * the previous one ended.
   */
  let isWriting = false
  /** Event mode only: end of the recording around the latest event. */
  let recordUntilPts = -1
  let silentSeconds = 0

  const isRecorded = (unit: StreamUnit) =>
    recording.mode === 'continuous' || unit.pts <= recordUntilPts

  function addPicture(unit: StreamUnit, track: Track) {
    silentSeconds = 0
    gops.add(unit, track)
    if (unit.keyframe) setWriting(isRecorded(unit))
    if (isWriting) writer.write(unit, track)
    else if (isSegmentComplete(unit)) segmenter.end()
  }

  function setWriting(shouldWrite: boolean) {
    const hasEnded = isWriting && !shouldWrite
    if (hasEnded) segmenter.flush()
    isWriting = shouldWrite
  }

  /**
   * Whether the open segment can be closed, because no more results of its pictures are expected.
   */
  function isSegmentComplete({ dts }: StreamUnit): boolean {
    return segmenter.isOpen() && dts - writer.lastDts() > MAX_RESULT_DELAY_TICKS
  }

  function addSound(unit: SoundUnit) {
    if (isWriting) segmenter.addSound(unit)
    if (recording.mode === 'event') recentSounds.add(unit, findOldestPts(unit.pts))
  }

  function addEntry(entry: MetadataEntry) {
    segmenter.addMetadata(entry)
    if (recording.mode === 'event') recentEntries.add(entry, findOldestPts(entry.pts))
  }

  /**
   * Returns the beginning of the earliest recording that an event received at `pts` can require.
   */
  function findOldestPts(pts: number): number {
    return pts - (recording.before_s + MAX_EVENT_DELAY_S) * TICKS_PER_SECOND
  }

  /** Returns the buffered GOPs after the last picture written. */
  function findUnwrittenGops(): Gop[] {
    return gops.gops().filter(({ units }) => units[0]!.dts > writer.lastDts())
  }

  /** Starts at the last buffered keyframe, for a continuous recording. */
  function startAtLatestKeyframe() {
    startWithGops(findUnwrittenGops().slice(-1))
  }

  /**
   * Starts at the last buffered keyframe at or before `pts`, or at the first keyframe if
   * all of them are later.
   */
  function startAt(pts: number) {
    const unwritten = findUnwrittenGops()
    const startIndex = unwritten.findLastIndex(({ units }) => units[0]!.pts <= pts)
    const candidates = unwritten.slice(Math.max(startIndex, 0))
    startWithGops(candidates.filter(({ units }) => isRecorded(units[0]!)))
  }

  /** Writes buffered GOPs. Live units are written after them if the latest GOP is included. */
  function startWithGops(selected: readonly Gop[]) {
    const first = selected[0]?.units[0]
    if (first) {
      writer.writeInterleaved(selected, recentSounds.listFrom(first.dts))
      for (const entry of recentEntries.listFrom(first.dts)) segmenter.addMetadata(entry)
    }

    const includesLatest = first !== undefined && selected.at(-1) === gops.gops().at(-1)
    isWriting = includesLatest
    if (!isWriting) segmenter.flush()
  }

  function followPackets(withSound: boolean) {
    packets?.leave()
    packets = followInterleaved(stream, withSound ? sound : undefined, {
      picture: addPicture,
      sound: addSound,
      interrupt: gops.interrupt,
    })
  }

  function configure(next: Recording) {
    if (!packets || next.sound !== recording.sound) followPackets(next.sound)
    recording = next
    gops.retain(next.mode === 'event' ? next.before_s + MAX_EVENT_DELAY_S : 0)
    if (next.mode === 'continuous' && !isWriting) startAtLatestKeyframe()
  }

  /** Extends the recording to the time around an event. */
  function recordAround({ pts }: EventToRecord) {
    recordUntilPts = Math.max(recordUntilPts, pts + recording.after_s * TICKS_PER_SECOND)
    if (!isWriting) startAt(pts - recording.before_s * TICKS_PER_SECOND)
  }

  // A recording can begin with the group of pictures that the stream has cached.
  const track = stream.track()
  if (track) {
    for (const unit of stream.cachedUnits()) gops.add(unit, track)
  }
  configure(initial)

  return {
    stream,
    configure,
    addEvent(event) {
      if (recording.mode === 'event') recordAround(event)
      addEntry(toEventEntry(event))
    },
    addResult: result => addEntry(toResultEntry(result)),
    status() {
      const stats = segmenter.stats()
      const reason = segmenter.failure()
      if (reason) return { state: 'failed', reason, ...stats }
      const isRecording = isWriting && segmenter.isOpen()
      return { state: isRecording ? 'recording' : 'waiting', ...stats }
    },
    prepareDeletion(fromUs, toUs) {
      packets?.releaseBefore(toUs)
      if (segmenter.overlaps(fromUs, toUs)) segmenter.end()
      gops.removeThrough(({ units }) => units.some(unit => mayOverlap(unit, fromUs, toUs)))
    },
    checkSilence() {
      silentSeconds++
      if (silentSeconds >= MAX_SILENCE_S && segmenter.isOpen()) segmenter.end()
    },
    stop() {
      packets?.leave()
      segmenter.end()
    },
  }
}

/** Returns whether a unit may be of this time, in µs since 1970: its own may be unknown. */
const mayOverlap = ({ timeUs, duration }: StreamUnit, fromUs: number, toUs: number) =>
  timeUs === undefined || (timeUs < toUs && timeUs + ticksToUs(duration) > fromUs)

/** Passes pictures to a segmenter. Pictures that cannot be played are ignored. */
function createUnitWriter(segmenter: Segmenter, getSoundTrack: () => SoundTrack | undefined) {
  let lastDts = -1

  function write(unit: StreamUnit, track: Track) {
    if (!isPlayable(track)) return
    segmenter.addPicture(unit, track, getSoundTrack())
    lastDts = unit.dts
  }

  return {
    write,
    /** Writes GOPs; each sound unit is written before the first picture that is later. */
    writeInterleaved(gops: readonly Gop[], sounds: readonly SoundUnit[]) {
      let soundIndex = 0

      function writeSoundsBefore(dts: number) {
        while (soundIndex < sounds.length && sounds[soundIndex]!.pts < dts) {
          segmenter.addSound(sounds[soundIndex]!)
          soundIndex++
        }
      }

      for (const { units, track } of gops) {
        for (const unit of units) {
          writeSoundsBefore(unit.dts)
          write(unit, track)
        }
      }
    },
    /** Decode time of the last picture written; -1 before the first one. */
    lastDts: () => lastDts,
  }
}

/** Buffers the items of the last seconds. If there are too many items, older items are dropped. */
function createRecentItems<Item extends { pts: number }>() {
  let items: Item[] = []
  return {
    /** Adds an item and drops all items from before `oldestPts`. */
    add(item: Item, oldestPts: number) {
      items.push(item)

      // Half of the items are dropped at once, because copying the array for every
      // new item would be slow.
      if (items.length > MAX_BUFFERED_ITEMS) items = items.slice(-MAX_BUFFERED_ITEMS / 2)
      if (items[0]!.pts < oldestPts) items = items.filter(({ pts }) => pts >= oldestPts)
    },
    listFrom: (pts: number) => items.filter(item => item.pts >= pts),
  }
}
