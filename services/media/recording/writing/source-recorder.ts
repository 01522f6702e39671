import {
  type EventToRecord,
  type Recording,
  type RecordingState,
  type ResultToRecord,
  TICKS_PER_SECOND,
} from '@eyrie/contract'
import type { SoundUnit } from '../../sound/sound-track.ts'
import type { Sound } from '../../sound/source-sound.ts'
import { createGopBuffer } from '../../stream/gop-buffer.ts'
import type { Stream, StreamUnit, Track } from '../../stream/live-stream.ts'
import { isPlayable } from '../../stream/sample-entry.ts'
import { type MetadataEntry, toEventEntry, toResultEntry } from '../format/metadata-lines.ts'
import { followInterleaved, type InterleavedPackets } from './interleaved-packets.ts'
import type { Segmenter } from './segmenter.ts'

/** The packets of a source. */
export interface RecordingInput {
  stream: Stream<Track>
  sound: Pick<Sound, 'listenToAac'> | undefined
}

export interface RecorderStatus {
  state: RecordingState
  reason?: string | undefined
  bytes: number
  dropped: number
}

/** Records one source, continuously or around events. */
export interface Recorder {
  readonly stream: Stream<Track>
  configure(recording: Recording): void
  addEvent(happening: EventToRecord): void
  addResult(result: ResultToRecord): void
  status(): RecorderStatus
  /** Closes the current segment. The next keyframe begins a new one. */
  closeSegment(): void
  stop(): void
}

/** An event may arrive this long after its picture. */
const MAX_EVENT_DELAY_S = 5
/** Results of the last pictures may arrive this long after them. */
const RESULT_DELAY_TICKS = 2 * TICKS_PER_SECOND
/** Size limit of the packets from before a possible event. */
const MAX_BUFFERED_BYTES = 64 << 20
/** Limit for sound units and for metadata entries from before a possible event. */
const MAX_BUFFERED_ITEMS = 4000

export function createRecorder(
  { stream, sound }: RecordingInput,
  segmenter: Segmenter,
  initial: Recording,
): Recorder {
  const gops = createGopBuffer(MAX_BUFFERED_BYTES)
  let recording = initial
  let isWriting = false
  /** Decode time of the last unit written. */
  let lastDts = -1
  /** In event mode: end of the recording around the latest event. */
  let recordUntilPts = -1
  /** In event mode: metadata and sound of the last seconds, in case an event includes them. */
  let recentEntries: MetadataEntry[] = []
  let recentSounds: SoundUnit[] = []
  let packets: InterleavedPackets | undefined

  const isRecorded = (unit: StreamUnit) => recording.mode === 'continuous' || unit.pts <= recordUntilPts

  function write(unit: StreamUnit, track: Track) {
    if (!isPlayable(track)) return
    segmenter.addPicture(unit, track, packets?.soundTrack())
    lastDts = unit.dts
  }

  /** Starts and stops only at keyframes, so that a later event can continue exactly where the last one ended. */
  function addPicture(unit: StreamUnit, track: Track) {
    gops.add(unit, track)
    if (unit.keyframe) {
      const wasWriting = isWriting
      isWriting = isRecorded(unit)
      if (wasWriting && !isWriting) segmenter.flush()
    }
    if (isWriting) write(unit, track)
    else if (segmenter.isOpen() && unit.dts - lastDts > RESULT_DELAY_TICKS) segmenter.end()
  }

  function addSound(unit: SoundUnit) {
    if (isWriting) segmenter.addSound(unit)
    if (recording.mode === 'event') recentSounds = dropOutdated([...recentSounds, unit], unit.pts)
  }

  function addEntry(entry: MetadataEntry) {
    segmenter.addMetadata(entry)
    if (recording.mode === 'event') recentEntries = dropOutdated([...recentEntries, entry], entry.pts)
  }

  /** Drops items that no future event can include. */
  function dropOutdated<Item extends { pts: number }>(items: Item[], pts: number): Item[] {
    const oldest = pts - (recording.before_s + MAX_EVENT_DELAY_S) * TICKS_PER_SECOND
    if (items.length <= MAX_BUFFERED_ITEMS && items[0]!.pts >= oldest) return items
    return items.slice(-MAX_BUFFERED_ITEMS / 2).filter(item => item.pts >= oldest)
  }

  /** Writes what is buffered from the last keyframe at or before `pts` on, and continues with live packets. */
  function startFrom(pts: number) {
    const unwritten = gops.gops().filter(({ units }) => units[0]!.dts > lastDts)
    const start = unwritten.findLastIndex(({ units }) => units[0]!.pts <= pts)
    const included = unwritten.slice(Math.max(start, 0)).filter(({ units }) => isRecorded(units[0]!))
    const firstDts = included[0]?.units[0]?.dts ?? Number.POSITIVE_INFINITY
    const sounds = recentSounds.filter(unit => unit.pts >= firstDts)
    for (const { units, track } of included) {
      for (const unit of units) {
        while (sounds[0] && sounds[0].pts < unit.dts) segmenter.addSound(sounds.shift()!)
        write(unit, track)
      }
    }
    isWriting = included.length > 0 && included.at(-1) === unwritten.at(-1)
    for (const entry of recentEntries) if (entry.pts >= firstDts) segmenter.addMetadata(entry)
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
    if (next.mode === 'continuous' && !isWriting) startFrom(Number.POSITIVE_INFINITY)
  }

  const track = stream.track()
  if (track) for (const unit of stream.cachedUnits()) gops.add(unit, track)
  configure(initial)

  return {
    stream,
    configure,
    addEvent(happening) {
      const { pts } = happening
      if (recording.mode === 'event') {
        recordUntilPts = Math.max(recordUntilPts, pts + recording.after_s * TICKS_PER_SECOND)
        if (!isWriting) startFrom(pts - recording.before_s * TICKS_PER_SECOND)
      }
      addEntry(toEventEntry(happening))
    },
    addResult: result => addEntry(toResultEntry(result)),
    status() {
      const reason = segmenter.failure()
      const activity = isWriting && segmenter.isOpen() ? 'recording' : 'waiting'
      return { state: reason ? 'failed' : activity, reason, ...segmenter.stats() }
    },
    closeSegment: segmenter.end,
    stop() {
      packets?.leave()
      segmenter.end()
    },
  }
}
