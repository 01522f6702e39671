import type { Shape } from '@eyrie/contract/exports'
import type { Counters } from '@eyrie/contract/object'
import type { RecordedEvent, RecordingList } from '@eyrie/contract/recording'
import { type ReadonlySignal, signal } from '@preact/signals'
import { fetchJson } from '../../api/api-request.ts'
import type { StreamTime } from '../../video/metadata-buffer.ts'
import { createOverlay } from '../../video/overlay.ts'
import { createPlayback, type Playback } from './playback.ts'
import { createRecordedMetadata, type RecordedMetadata } from './recorded-metadata.ts'
import {
  findContinuation,
  findNearestRecorded,
  parseRanges,
  type RecordedSpan,
} from './recorded-ranges.ts'

/** Plays a recording with its analysis results drawn on top, and navigates by time and by event. */
export interface RecordingPlayer {
  readonly playback: Playback
  readonly channels: RecordedMetadata['channels']
  /** Counters at the time of the displayed frame. */
  readonly counters: ReadonlySignal<Counters>
  /** Shapes, such as counting lines, at the time of the displayed frame. */
  readonly shapes: ReadonlySignal<readonly Shape[]>
  togglePlay(): void
  /** Seeks to a time. Seeks to the nearest recorded time if there is no recording of it. */
  seek(timeMs: number): void
  /** Skips forward, or back if `seconds` is negative. Skips gaps, too. */
  skip(seconds: number): void
  goToEvent(direction: 'next' | 'previous'): void
  /** Shows the frame of an event. */
  showEvent(event: RecordedEvent): void
  selectChannel(channel: number): void
  close(): void
}

export interface RecordingPlayerOptions {
  stream: number
  video: HTMLVideoElement
  picture: HTMLCanvasElement
  boxes: HTMLCanvasElement
  /** Returns the newest state, which changes with the selected day and during recording. */
  getRecordings(): RecordingsOfDay
}

/** What is recorded on the selected day. */
export interface RecordingsOfDay {
  recorded: readonly RecordedSpan[]
  /** The events in order of time. */
  events: readonly RecordedEvent[]
  /** The end of the last recording of any day, in ms since 1970. */
  lastMs: number | undefined
}

/**
 * An event this close to the position is the one on display, because event times may be rounded.
 */
const SAME_EVENT_MS = 100

export function createRecordingPlayer(options: RecordingPlayerOptions): RecordingPlayer {
  const { stream, video, picture, boxes, getRecordings } = options
  const getSpans = () => getRecordings().recorded
  const getEvents = () => getRecordings().events
  const metadata = createRecordedMetadata()
  const counters = signal<Counters>({})
  const shapes = signal<readonly Shape[]>([])
  /** The position of the frame on display. */
  let displayed: StreamTime = { epoch: 0, pts: 0 }

  const overlay = createOverlay({ picture, boxes, metadata, shapes: () => shapes.value })

  function updateSignals() {
    shapes.value = metadata.getShapes(displayed.pts)
    const match = metadata.find(displayed)
    const newCounters = match?.metadata.counters ?? {}
    // A new but equal object would render the counter cards for every frame.
    if (JSON.stringify(newCounters) !== JSON.stringify(counters.value)) counters.value = newCounters
  }

  function showNewMetadata() {
    updateSignals()
    overlay.refreshBoxes()
  }

  const playback = createPlayback({
    video,
    stream,
    metadata,
    onFrame(image, time) {
      displayed = time
      updateSignals()
      overlay.show(image, time)
    },
    onMetadata: showNewMetadata,
    findContinuation: findNextRecorded,
  })

  /** Like `findContinuation`, but also finds recordings after the selected day. */
  async function findNextRecorded(endMs: number): Promise<number | undefined> {
    const { recorded, lastMs } = getRecordings()
    const next = findContinuation(recorded, endMs)
    const dayEndMs = recorded.at(-1)?.to ?? endMs
    if (next !== undefined || lastMs === undefined || lastMs <= dayEndMs) return next

    const query = new URLSearchParams({
      stream: String(stream),
      from: new Date(endMs).toISOString(),
    })
    const { streams } = await fetchJson<RecordingList>(`/live/recordings?${query}`)
    return findContinuation(
      streams.flatMap(({ ranges }) => parseRanges(ranges)),
      endMs,
    )
  }

  /** Seeks as `seek` does, but may prefer a later or an earlier recording to the nearest one. */
  function seekToRecorded(timeMs: number, preferred?: 'later' | 'earlier') {
    const recordedMs = findNearestRecorded(getSpans(), timeMs, preferred)
    if (recordedMs !== undefined) playback.seek(recordedMs)
  }

  const showEvent = ({ time }: RecordedEvent) => playback.seek(Date.parse(time), 'nearest')

  return {
    playback,
    channels: metadata.channels,
    counters,
    shapes,
    togglePlay() {
      if (playback.isPlaying.value) playback.pause()
      else playback.play()
    },
    seek: timeMs => seekToRecorded(timeMs),
    skip(seconds) {
      const position = playback.position.value
      if (position === undefined) return
      seekToRecorded(position + seconds * 1000, seconds < 0 ? 'earlier' : 'later')
    },
    goToEvent(direction) {
      const position = playback.position.value ?? 0
      const isLater = ({ time }: RecordedEvent) => Date.parse(time) > position + SAME_EVENT_MS
      const isEarlier = ({ time }: RecordedEvent) => Date.parse(time) < position - SAME_EVENT_MS
      const event =
        direction === 'next' ? getEvents().find(isLater) : getEvents().findLast(isEarlier)
      if (event) showEvent(event)
    },
    showEvent,
    selectChannel(channel) {
      metadata.selectChannel(channel)
      showNewMetadata()
    },
    close() {
      playback.close()
      overlay.close()
    },
  }
}
