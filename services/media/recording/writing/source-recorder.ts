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

export interface RecorderStatus {
  state: RecordingState
  reason?: string | undefined
  bytes: number
  dropped: number
}

/** Records one source, all of the time or around events, for as long as it is recorded. */
export interface Recorder {
  readonly stream: Stream<Track>
  configure(recording: Recording): void
  addEvent(happening: EventToRecord): void
  addResult(result: ResultToRecord): void
  status(): RecorderStatus
  /** Files begun so far are ended; the next keyframe begins another. */
  closeSegment(): void
  stop(): void
}

/** An event is told so long after its picture. */
const LATENESS_S = 5
/** Results of the last pictures may come so long after them. */
const LINGER_TICKS = 2 * TICKS_PER_SECOND
/** Packets of the seconds before an event are kept in memory, as far as they fit in this. */
const BEFORE_BYTES = 64 << 20
const MOST_KEPT = 4000

/** What is recorded: the packets as they come, and what is heard. */
export interface RecordingInput {
  stream: Stream<Track>
  sound: Pick<Sound, 'listenToAac'> | undefined
}

export function createRecorder(
  { stream, sound }: RecordingInput,
  segmenter: Segmenter,
  first: Recording,
): Recorder {
  const recent = createGopBuffer(BEFORE_BYTES)
  let recording = first
  let writing = false
  /** Of what was written. */
  let lastDts = -1
  /** In mode event: up to this `pts` all is recorded. */
  let until = -1
  /** What was found in the last pictures and heard, for those that an event makes recorded later. */
  let found: MetadataEntry[] = []
  let heard: SoundUnit[] = []
  let packets: InterleavedPackets | undefined

  const isWanted = (unit: StreamUnit) => recording.mode === 'continuous' || unit.pts <= until

  function write(unit: StreamUnit, track: Track) {
    if (!isPlayable(track)) return
    segmenter.addPicture(unit, track, packets?.soundTrack())
    lastDts = unit.dts
  }

  /** Groups end whole, so that what follows on them can begin right there. */
  function follow(unit: StreamUnit, track: Track) {
    recent.add(unit, track)
    if (writing && unit.keyframe && !isWanted(unit)) {
      writing = false
      segmenter.flush()
    }
    if (!writing && unit.keyframe && isWanted(unit)) writing = true
    if (writing) write(unit, track)
    else if (segmenter.isOpen() && unit.dts - lastDts > LINGER_TICKS) segmenter.end()
  }

  function hear(unit: SoundUnit) {
    if (writing) segmenter.addSound(unit)
    if (recording.mode === 'event') heard = lately([...heard, unit], unit.pts)
  }

  /** Those that a coming event may reach back to. */
  function lately<Timed extends { pts: number }>(all: Timed[], pts: number): Timed[] {
    const oldest = pts - (recording.before_s + LATENESS_S) * TICKS_PER_SECOND
    return all.length > MOST_KEPT || all[0]!.pts < oldest
      ? all.slice(-MOST_KEPT / 2).filter(each => each.pts >= oldest)
      : all
  }

  /** Begins with what is there already, from the last keyframe at or before `pts` on. */
  function begin(pts: number) {
    const groups = recent.gops().filter(({ units }) => units[0]!.dts > lastDts)
    const start = Math.max(
      groups.findLastIndex(({ units }) => units[0]!.pts <= pts),
      0,
    )
    const wanted = groups.slice(start).filter(({ units }) => isWanted(units[0]!))
    const from = wanted[0]?.units[0]?.dts ?? Number.POSITIVE_INFINITY
    const sounds = heard.filter(({ pts }) => pts >= from)
    for (const { units, track } of wanted) {
      for (const unit of units) {
        while (sounds[0] && sounds[0].pts < unit.dts) segmenter.addSound(sounds.shift()!)
        write(unit, track)
      }
    }
    writing = wanted.length > 0 && wanted.at(-1) === groups.at(-1)
    for (const note of found) if (note.pts >= from) segmenter.addMetadata(note)
    if (!writing) segmenter.flush()
  }

  const track = stream.track()
  if (track) for (const unit of stream.cachedUnits()) recent.add(unit, track)

  function attend(withSound: boolean) {
    packets?.leave()
    packets = followInterleaved(stream, withSound ? sound : undefined, {
      picture: follow,
      sound: hear,
      interrupt: recent.interrupt,
    })
  }

  function note(note: MetadataEntry) {
    segmenter.addMetadata(note)
    if (recording.mode === 'event') found = lately([...found, note], note.pts)
  }

  const recorder: Recorder = {
    stream,
    configure(next) {
      if (!packets || next.sound !== recording.sound) attend(next.sound)
      recording = next
      recent.retain(next.mode === 'event' ? next.before_s + LATENESS_S : 0)
      if (next.mode === 'continuous' && !writing) begin(Number.POSITIVE_INFINITY)
    },
    addEvent(happening) {
      const { pts } = happening
      if (recording.mode === 'event') {
        until = Math.max(until, pts + recording.after_s * TICKS_PER_SECOND)
        if (!writing) begin(pts - recording.before_s * TICKS_PER_SECOND)
      }
      note(toEventEntry(happening))
    },
    addResult: result => note(toResultEntry(result)),
    status() {
      const reason = segmenter.failure()
      const state = reason ? 'failed' : writing && segmenter.isOpen() ? 'recording' : 'waiting'
      return { state, reason, ...segmenter.stats() }
    },
    closeSegment: segmenter.end,
    stop() {
      packets?.leave()
      segmenter.end()
    },
  }
  recorder.configure(first)
  return recorder
}
