import type {
  RecordedEventList as EventListResponse,
  RecordedStream,
} from '@eyrie/contract/recording'
import { signal } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Polled, usePolling } from '../api/use-polling.ts'
import { CounterCards } from '../ui/counter-cards.tsx'
import { capitalize } from '../ui/format.ts'
import { ClipPanel } from './clip-panel.tsx'
import { DayPicker } from './day-picker.tsx'
import { useDeepLink } from './deep-link.ts'
import { useKeyboardShortcuts } from './keyboard-shortcuts.ts'
import {
  findNearestRecorded,
  parseRanges,
  type RecordedSpan,
  type TimeSpan,
  toTimeSpan,
} from './playback/recorded-ranges.ts'
import type { RecordingPlayer } from './playback/recording-player.ts'
import { PLAYBACK_RATES, PlaybackControls } from './playback-controls.tsx'
import { RecordedEventList } from './recorded-event-list.tsx'
import { RecordedVideo } from './recorded-video.tsx'
import { type CalendarDay, findEnteredDay, isInDay } from './timeline/calendar-day.ts'
import { Timeline } from './timeline/timeline.tsx'
import { panInto, zoomCentered } from './timeline/timeline-scale.ts'
import { ZoomButtons } from './timeline/zoom-buttons.tsx'
import '../ui/view.css'
import './recording-view.css'

interface RecordingViewProps {
  recording: RecordedStream
  name: string
  day: CalendarDay
  onDay(day: CalendarDay): void
  /**
   * The displayed time in ms since 1970. Its initial value is the time to start at,
   * undefined for the default.
   */
  position: { current: number | undefined }
}

const EVENTS_INTERVAL_MS = 5_000
/** By default, playback of a day starts this much before the end of its recordings. */
const BEFORE_END_MS = 60_000
const ZOOM_FACTOR = 0.5
/** How far the arrow keys skip, without and with Shift. */
const SHORT_SKIP_S = 5
const LONG_SKIP_S = 60
/** The End key goes to this much before the end of the recordings. */
const END_KEY_MS = 1000

/** The position while there is no player. */
const unknownPosition = signal<number | undefined>(undefined)

/** The recordings of one source and day: video, timeline, clip and events. */
export function RecordingView({ recording, name, day, onDay, position }: RecordingViewProps) {
  const { stream } = recording
  const recorded = useMemo(() => parseRanges(recording.ranges), [recording])
  const { data: eventList, error } = useRecordedEvents(stream, day)
  const events = eventList?.events ?? []
  // The player reads the ref, so that it need not be opened again when the recordings change.
  const lastMs = recording.last === undefined ? undefined : Date.parse(recording.last)
  const latest = useRef({ recorded, events, lastMs })
  latest.current = { recorded, events, lastMs }

  const [player, setPlayer] = useState<RecordingPlayer>()
  const playback = player?.playback
  const [muted, setMuted] = useState(true)
  const [channel, setChannel] = useState<number>()
  const [clip, setClip] = useState<Partial<TimeSpan>>({})
  const { span, setSpan } = useVisibleSpan(day)

  usePlaybackOfDay({ player, recorded, day, onDay, position, setSpan })
  useDeepLink(stream, playback)

  const getPosition = () => playback?.position.value
  const seek = (timeMs: number) => player?.seek(timeMs)
  const zoom = (factor: number) => {
    const spanCenter = (span.from + span.to) / 2
    setSpan(zoomCentered(span, factor, getPosition() ?? spanCenter, day))
  }
  const changeRate = (steps: 1 | -1) => {
    const currentIndex = PLAYBACK_RATES.indexOf(playback?.rate.value ?? 1)
    const rate = PLAYBACK_RATES[currentIndex + steps]
    if (rate !== undefined) playback?.setRate(rate)
  }
  const startClip = () => setClip(({ to }) => ({ from: getPosition(), to }))
  const endClip = () => setClip(({ from }) => ({ from, to: getPosition() }))

  useKeyboardShortcuts({
    ' ': () => player?.togglePlay(),
    k: () => player?.togglePlay(),
    ',': () => playback?.step(-1),
    '.': () => playback?.step(1),
    ArrowLeft: () => player?.skip(-SHORT_SKIP_S),
    ArrowRight: () => player?.skip(SHORT_SKIP_S),
    'Shift+ArrowLeft': () => player?.skip(-LONG_SKIP_S),
    'Shift+ArrowRight': () => player?.skip(LONG_SKIP_S),
    n: () => player?.goToEvent('next'),
    p: () => player?.goToEvent('previous'),
    '<': () => changeRate(-1),
    '>': () => changeRate(1),
    i: startClip,
    o: endClip,
    m: () => setMuted(!muted),
    '+': () => zoom(ZOOM_FACTOR),
    '-': () => zoom(1 / ZOOM_FACTOR),
    '0': () => setSpan(day),
    Home: () => seek(findNearestRecorded(recorded, day.from) ?? day.from),
    End: () => seek((findNearestRecorded(recorded, day.to, 'earlier') ?? day.to) - END_KEY_MS),
  })

  return (
    <article class="view recording-view">
      <section class="picture">
        <header>
          <h1>{name}</h1>
          {recording.reason && <p class="reason">{capitalize(recording.reason)}</p>}
          <DayPicker day={day} recording={recording} onDay={onDay} />
        </header>
        <RecordedVideo
          key={stream}
          stream={stream}
          name={name}
          muted={muted}
          latest={latest}
          isEmpty={recorded.length === 0}
          isNeverRecorded={lastMs === undefined}
          onPlayer={setPlayer}
        />
        {player && (
          <PlaybackControls
            player={player}
            day={day}
            muted={muted}
            onMuted={setMuted}
            channel={channel}
            onChannel={selected => {
              setChannel(selected)
              player.selectChannel(selected)
            }}
          />
        )}
        <div class="timeline-row">
          <Timeline
            day={day}
            span={span}
            onSpan={setSpan}
            recorded={recorded}
            events={events}
            position={playback?.position ?? unknownPosition}
            clip={toTimeSpan(clip)}
            onSeek={seek}
          />
          <ZoomButtons
            isWholeDay={span.to - span.from >= day.to - day.from}
            onZoomIn={() => zoom(ZOOM_FACTOR)}
            onZoomOut={() => zoom(1 / ZOOM_FACTOR)}
            onWholeDay={() => setSpan(day)}
          />
        </div>
        <ClipPanel
          stream={stream}
          clip={clip}
          onStart={startClip}
          onEnd={endClip}
          onClear={() => setClip({})}
        />
      </section>
      {player && <CounterCards counters={player.counters} shapes={player.shapes.value} />}
      <RecordedEventList
        list={eventList}
        error={error}
        span={span}
        position={playback?.position ?? unknownPosition}
        onSelect={event => player?.showEvent(event)}
      />
    </article>
  )
}

/** Fetches the events of the day. */
function useRecordedEvents(stream: number, day: CalendarDay): Polled<EventListResponse> {
  const query = new URLSearchParams({
    from: new Date(day.from).toISOString(),
    to: new Date(day.to).toISOString(),
  })
  const path = `/live/recordings/${stream}/events?${query}`
  return usePolling<EventListResponse>(path, EVENTS_INTERVAL_MS).value
}

type SetSpan = (span: TimeSpan | ((previous: TimeSpan) => TimeSpan)) => void

/** The visible part of the timeline. A newly selected day is completely visible. */
function useVisibleSpan(day: CalendarDay): { span: TimeSpan; setSpan: SetSpan } {
  const [span, setSpan] = useState<TimeSpan>(day)
  const isPartOfDay = span.from >= day.from && span.to <= day.to
  return { span: isPartOfDay ? span : day, setSpan }
}

interface PlaybackOfDay extends Pick<RecordingViewProps, 'day' | 'onDay' | 'position'> {
  player: RecordingPlayer | undefined
  recorded: readonly RecordedSpan[]
  setSpan: SetSpan
}

/**
 * Starts playback of a newly selected day. During playback, the timeline and the selected day
 * follow the position.
 */
function usePlaybackOfDay({ player, recorded, day, onDay, position, setSpan }: PlaybackOfDay) {
  /** The day for which playback was last started. */
  const startedDay = useRef<string>(undefined)

  useEffect(() => {
    const lastSpan = recorded.findLast(({ from }) => from < day.to)
    const hasRecordings = lastSpan !== undefined && lastSpan.to > day.from
    if (!player || !hasRecordings || startedDay.current === day.text) return

    startedDay.current = day.text
    const timeMs = position.current
    const defaultMs = Math.max(lastSpan.from, Math.min(lastSpan.to, day.to) - BEFORE_END_MS)
    player.seek(timeMs !== undefined && isInDay(timeMs, day) ? timeMs : defaultMs)
  }, [player, recorded, day, position])

  useEffect(() => {
    const followPosition = (timeMs: number | undefined) => {
      if (timeMs === undefined) return
      const enteredDay = findEnteredDay(day, position.current, timeMs)
      position.current = timeMs
      if (enteredDay) {
        startedDay.current = enteredDay.text
        onDay(enteredDay)
      } else if (player?.playback.isPlaying.value && isInDay(timeMs, day)) {
        setSpan(span => panInto(span, timeMs, day))
      }
    }
    return player?.playback.position.subscribe(followPosition)
  }, [player, day, onDay, position, setSpan])
}
