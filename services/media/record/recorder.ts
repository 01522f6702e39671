import type { RecordedResult, Recording, RecordingState } from '@eyrie/contract'
import { createRecent } from '../live/recent.ts'
import { isPlayable } from '../live/sample-entry.ts'
import type { CachedUnit, Stream, Track } from '../live/stream.ts'
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
  set(recording: Recording): void
  /** Something has happened at this `pts`. */
  event(pts: number): void
  result(result: RecordedResult): void
  status(): RecorderStatus
  /** Files begun so far are ended; the next keyframe begins another. */
  cut(): void
  stop(): void
}

const TICKS_PER_SECOND = 90_000
/** An event is told so long after its picture. */
const LATENESS_S = 5
/** Results of the last pictures may come so long after them. */
const LINGER_TICKS = 2 * TICKS_PER_SECOND
/** Packets of the seconds before an event are kept in memory, as far as they fit in this. */
const BEFORE_BYTES = 64 << 20
const MOST_LINES = 4000

export function createRecorder(stream: Stream<Track>, segmenter: Segmenter, first: Recording): Recorder {
  const recent = createRecent(BEFORE_BYTES)
  let recording = first
  let writing = false
  /** Of what was written. */
  let lastDts = -1
  /** In mode event: up to this `pts` all is recorded. */
  let until = -1
  /** What was found in the last pictures, for those that an event makes recorded later. */
  let found: { pts: number; line: string }[] = []

  const isWanted = (unit: CachedUnit) => recording.mode === 'continuous' || unit.pts <= until

  function write(unit: CachedUnit, track: Track) {
    if (!isPlayable(track)) return
    segmenter.add(unit, track)
    lastDts = unit.dts
  }

  /** Groups end whole, so that what follows on them can begin right there. */
  function follow(unit: CachedUnit, track: Track) {
    recent.add(unit, track)
    if (writing && unit.keyframe && !isWanted(unit)) {
      writing = false
      segmenter.flush()
    }
    if (!writing && unit.keyframe && isWanted(unit)) writing = true
    if (writing) write(unit, track)
    else if (segmenter.open() && unit.dts - lastDts > LINGER_TICKS) segmenter.end()
  }

  /** Begins with what is there already, from the last keyframe at or before `pts` on. */
  function begin(pts: number) {
    const groups = recent.groups().filter(({ units }) => units[0]!.dts > lastDts)
    const start = Math.max(
      groups.findLastIndex(({ units }) => units[0]!.pts <= pts),
      0,
    )
    const wanted = groups.slice(start).filter(({ units }) => isWanted(units[0]!))
    for (const { units, track } of wanted) for (const unit of units) write(unit, track)
    writing = wanted.length > 0 && wanted.at(-1) === groups.at(-1)
    const from = wanted[0]?.units[0]?.pts ?? Number.POSITIVE_INFINITY
    for (const { pts, line } of found) if (pts >= from) segmenter.note(line)
    if (!writing) segmenter.flush()
  }

  const track = stream.track()
  if (track) for (const unit of stream.cached()) recent.add(unit, track)
  const leave = stream.follow({ unit: follow, interrupt: recent.interrupt })

  const recorder: Recorder = {
    stream,
    set(next) {
      recording = next
      recent.keep(next.mode === 'event' ? next.before_s + LATENESS_S : 0)
      if (next.mode === 'continuous' && !writing) begin(Number.POSITIVE_INFINITY)
    },
    event(pts) {
      if (recording.mode !== 'event') return
      until = Math.max(until, pts + recording.after_s * TICKS_PER_SECOND)
      if (!writing) begin(pts - recording.before_s * TICKS_PER_SECOND)
    },
    result({ channel, pts, objects, counters }) {
      const line = JSON.stringify({ channel, pts, objects, counters })
      segmenter.note(line)
      if (recording.mode !== 'event') return
      found.push({ pts, line })
      const oldest = pts - (recording.before_s + LATENESS_S) * TICKS_PER_SECOND
      if (found.length > MOST_LINES || found[0]!.pts < oldest)
        found = found.slice(-MOST_LINES / 2).filter(each => each.pts >= oldest)
    },
    status() {
      const reason = segmenter.failure()
      const state = reason ? 'failed' : writing && segmenter.open() ? 'recording' : 'waiting'
      return { state, reason, ...segmenter.stats() }
    },
    cut: segmenter.end,
    stop() {
      leave()
      segmenter.end()
    },
  }
  recorder.set(first)
  return recorder
}
