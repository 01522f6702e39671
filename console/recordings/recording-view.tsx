import type { RecordedEventList as EventListResponse, RecordedStream } from '@eyrie/contract/recording'
import { signal } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { usePolling } from '../api/use-polling.ts'
import { CounterCards } from '../ui/counter-cards.tsx'
import { capitalize } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { ClipPanel } from './clip-panel.tsx'
import { DayPicker } from './day-picker.tsx'
import { useDeepLink } from './deep-link.ts'
import { useKeyboardShortcuts } from './keyboard-shortcuts.ts'
import {
  findNearestRecorded,
  parseRanges,
  type RecordedSpan,
  type TimeSpan,
} from './playback/recorded-ranges.ts'
import type { RecordingPlayer } from './playback/recording-player.ts'
import { PLAYBACK_RATES, PlaybackControls } from './playback-controls.tsx'
import { RecordedEventList } from './recorded-event-list.tsx'
import { RecordedVideo } from './recorded-video.tsx'
import { addDays, type CalendarDay } from './timeline/calendar-day.ts'
import { Timeline, ZoomButtons } from './timeline/timeline.tsx'
import { panInto, zoomCentered } from './timeline/timeline-scale.ts'
import '../ui/view.css'
import './recording-view.css'

interface RecordingViewProps {
  recording: RecordedStream
  name: string
  day: CalendarDay
  onDay(day: CalendarDay): void
  /** The time on display in ms since 1970. Initially the time to start at, if there is one. */
  position: { current: number | undefined }
}

const EVENTS_INTERVAL_MS = 5_000
/** By default, a day starts this long before the end of its recordings. */
const BEFORE_END_MS = 60_000
/** Playback this far behind midnight has crossed it. Further behind, the day was changed during playback. */
const MAX_BEHIND_MIDNIGHT_MS = 10_000
const ZOOM_FACTOR = 0.5

/** The position before there is a player. */
const unknownPosition = signal<number | undefined>(undefined)

/** One day of a source: video, timeline, clip and events. */
export function RecordingView({ recording, name, day, onDay, position }: RecordingViewProps) {
  const { stream } = recording
  const recorded = useMemo(() => parseRanges(recording.ranges), [recording])
  const query = new URLSearchParams({
    from: new Date(day.from).toISOString(),
    to: new Date(day.to).toISOString(),
  })
  const { data: eventList, error } = usePolling<EventListResponse>(
    `/live/recordings/${stream}/events?${query}`,
    EVENTS_INTERVAL_MS,
  ).value
  const events = eventList?.events ?? []
  const latest = useRef({ recorded, events })
  latest.current = { recorded, events }

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
  const zoom = (factor: number) =>
    setSpan(zoomCentered(span, factor, getPosition() ?? (span.from + span.to) / 2, day))
  const changeRate = (steps: 1 | -1) => {
    const rate = PLAYBACK_RATES[PLAYBACK_RATES.indexOf(playback?.rate.value ?? 1) + steps]
    if (rate !== undefined) playback?.setRate(rate)
  }
  const startClip = () => setClip(({ to }) => ({ from: getPosition(), to }))
  const endClip = () => setClip(({ from }) => ({ from, to: getPosition() }))

  useKeyboardShortcuts({
    ' ': () => player?.togglePlay(),
    k: () => player?.togglePlay(),
    ',': () => playback?.step(-1),
    '.': () => playback?.step(1),
    ArrowLeft: () => player?.skip(-5),
    ArrowRight: () => player?.skip(5),
    'Shift+ArrowLeft': () => player?.skip(-60),
    'Shift+ArrowRight': () => player?.skip(60),
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
    End: () => seek((findNearestRecorded(recorded, day.to, 'earlier') ?? day.to) - 1000),
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
          {...{ stream, name, muted, latest }}
          isEmpty={recorded.length === 0}
          onPlayer={setPlayer}
        />
        {player && (
          <PlaybackControls
            {...{ player, day, muted, channel }}
            onMuted={setMuted}
            onChannel={selected => {
              setChannel(selected)
              player.selectChannel(selected)
            }}
          />
        )}
        <div class="timeline-row">
          <Timeline
            {...{ day, span, recorded, events }}
            position={playback?.position ?? unknownPosition}
            clip={
              clip.from !== undefined && clip.to !== undefined ? { from: clip.from, to: clip.to } : undefined
            }
            onSeek={seek}
            onSpan={setSpan}
          />
          <ZoomButtons
            isWholeDay={span.to - span.from >= day.to - day.from}
            onZoomIn={() => zoom(ZOOM_FACTOR)}
            onZoomOut={() => zoom(1 / ZOOM_FACTOR)}
            onWholeDay={() => setSpan(day)}
          />
        </div>
        <ClipPanel
          {...{ stream, recorded, clip }}
          onStart={startClip}
          onEnd={endClip}
          onClear={() => setClip({})}
        />
      </section>
      {player && <CounterCards counters={player.counters} shapes={player.shapes.value} />}
      {error && !eventList ? (
        <Notice error title={`${capitalize(error)}. Retrying…`} />
      ) : (
        <RecordedEventList
          {...{ events, span }}
          hasMore={eventList?.more ?? false}
          position={playback?.position ?? unknownPosition}
          onSelect={event => player?.showEvent(event)}
        />
      )}
    </article>
  )
}

type SetSpan = (span: TimeSpan | ((previous: TimeSpan) => TimeSpan)) => void

/** The visible part of the timeline. A new day is visible as a whole. */
function useVisibleSpan(day: CalendarDay): { span: TimeSpan; setSpan: SetSpan } {
  const [span, setSpan] = useState<TimeSpan>(day)
  const isInDay = span.from >= day.from && span.to <= day.to
  return { span: isInDay ? span : day, setSpan }
}

interface PlaybackOfDay extends Pick<RecordingViewProps, 'day' | 'onDay' | 'position'> {
  player: RecordingPlayer | undefined
  recorded: readonly RecordedSpan[]
  setSpan: SetSpan
}

/** Seeks to the start of a newly selected day, and lets the timeline and the day follow playback. */
function usePlaybackOfDay({ player, recorded, day, onDay, position, setSpan }: PlaybackOfDay) {
  /** The day that playback has started on. */
  const startedDay = useRef<string>(undefined)

  useEffect(() => {
    const last = recorded.findLast(({ from }) => from < day.to)
    if (!player || startedDay.current === day.text || !last || last.to <= day.from) return
    startedDay.current = day.text
    const timeMs = position.current
    const isInDay = timeMs !== undefined && timeMs >= day.from && timeMs < day.to
    player.seek(isInDay ? timeMs : Math.max(last.from, Math.min(last.to, day.to) - BEFORE_END_MS))
  }, [player, recorded, day, position])

  useEffect(
    () =>
      player?.playback.position.subscribe(timeMs => {
        if (timeMs === undefined) return
        position.current = timeMs
        if (!player.playback.isPlaying.value) return
        if (timeMs >= day.to && timeMs < day.to + MAX_BEHIND_MIDNIGHT_MS) {
          const nextDay = addDays(day, 1)
          startedDay.current = nextDay.text
          onDay(nextDay)
        } else if (timeMs >= day.from && timeMs < day.to) setSpan(span => panInto(span, timeMs, day))
      }),
    [player, day, onDay, position, setSpan],
  )
}
