import type { RecordedEventList, RecordedStream } from '@eyrie/contract/recording'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { usePolled } from '../api/use-polling.ts'
import { CounterCards } from '../ui/counter-cards.tsx'
import { capitalised } from '../ui/format.ts'
import { Notice } from '../ui/notice.tsx'
import { ClipPanel } from './clip-panel.tsx'
import { type Day, dayAfter } from './timeline/calendar-day.ts'
import { DayChoice } from './day-picker.tsx'
import { DayEvents } from './recorded-event-list.tsx'
import { useKeys } from './keyboard-shortcuts.ts'
import { nowhere, usePlace } from './deep-link.ts'
import { nearest, recordedOf } from './playback/recorded-ranges.ts'
import { RecordedStage } from './recorded-video.tsx'
import { centred, type Span, showing } from './timeline/timeline-scale.ts'
import { Timeline } from './timeline/timeline.tsx'
import { RATES, Transport } from './playback-controls.tsx'
import type { Viewing } from './playback/recording-player.ts'
import { ZoomButtons } from './timeline/zoom-buttons.tsx'
import '../ui/view.css'
import './recording-view.css'

interface RecordedViewProps {
  recording: RecordedStream
  name: string
  day: Day
  onDay(day: Day): void
  /** Where to begin, if that is said, else near the end of what there is; from then on what is shown, in ms since 1970. */
  place: { current: number | undefined }
}

const EVENTS_EVERY_MS = 5_000
/** So much before the end of a day's recording it is begun, where nobody says where. */
const BEFORE_END_MS = 60_000
/** Playback that has come so far over the end of a day goes on in the next; what is further away was played before. */
const MIDNIGHT_MS = 10_000
const ZOOM = 0.5

/** A day of one source: its picture, its timeline and what has happened. */
export function RecordedView({ recording, name, day, onDay, place }: RecordedViewProps) {
  const { stream } = recording
  const recorded = useMemo(() => recordedOf(recording.ranges), [recording])
  const times = new URLSearchParams({
    from: new Date(day.from).toISOString(),
    to: new Date(day.to).toISOString(),
  })
  const listed = usePolled<RecordedEventList>(`/live/recordings/${stream}/events?${times}`, EVENTS_EVERY_MS)
  const { data: found, error } = listed.value
  const events = found?.events ?? []
  const [viewing, setViewing] = useState<Viewing>()
  const [zoom, setZoom] = useState<Span>(day)
  const [clip, setClip] = useState<Partial<Span>>({})
  const [muted, setMuted] = useState(true)
  const [channel, setChannel] = useState<number>()
  const latest = useRef({ recorded, events })
  latest.current = { recorded, events }
  const isDay = zoom.from >= day.from && zoom.to <= day.to
  const span = isDay ? zoom : day

  // What a day begins with is shown as soon as its list has come, once.
  const begun = useRef<string>(undefined)
  useEffect(() => {
    const last = recorded.findLast(({ from }) => from < day.to)
    if (!viewing || begun.current === day.text || !last || last.to <= day.from) return
    begun.current = day.text
    const at = place.current
    const isHere = at !== undefined && at >= day.from && at < day.to
    viewing.to(isHere ? at : Math.max(last.from, Math.min(last.to, day.to) - BEFORE_END_MS))
  }, [viewing, recorded, day, place])

  const playback = viewing?.playback
  useEffect(
    () =>
      playback?.position.subscribe(here => {
        if (here === undefined) return
        place.current = here
        if (!playback.playing.value) return
        const next = dayAfter(day, 1)
        if (here >= day.to && here < day.to + MIDNIGHT_MS) {
          begun.current = next.text
          onDay(next)
        } else if (here >= day.from && here < day.to) setZoom(shown => showing(shown, here, day))
      }),
    [playback, day, onDay, place],
  )
  usePlace(stream, viewing)

  const here = () => playback?.position.value
  const zoomBy = (factor: number) => setZoom(centred(span, factor, here() ?? (span.from + span.to) / 2, day))
  const faster = (by: 1 | -1) => {
    const index = RATES.indexOf(playback?.rate.value ?? 1) + by
    if (RATES[index] !== undefined) playback?.setRate(RATES[index])
  }
  const seek = (timeMs: number) => viewing?.to(timeMs)
  const begin = () => setClip(({ to }) => ({ from: here(), to }))
  const end = () => setClip(({ from }) => ({ from, to: here() }))
  const toggleSound = () => setMuted(!muted)

  useKeys({
    ' ': () => viewing?.toggle(),
    k: () => viewing?.toggle(),
    ',': () => playback?.step(-1),
    '.': () => playback?.step(1),
    ArrowLeft: () => viewing?.skip(-5),
    ArrowRight: () => viewing?.skip(5),
    'Shift+ArrowLeft': () => viewing?.skip(-60),
    'Shift+ArrowRight': () => viewing?.skip(60),
    n: () => viewing?.toEvent(1),
    p: () => viewing?.toEvent(-1),
    '<': () => faster(-1),
    '>': () => faster(1),
    i: begin,
    o: end,
    m: toggleSound,
    '+': () => zoomBy(ZOOM),
    '-': () => zoomBy(1 / ZOOM),
    '0': () => setZoom(day),
    Home: () => seek(nearest(recorded, day.from) ?? day.from),
    End: () => seek((nearest(recorded, day.to, true) ?? day.to) - 1000),
  })

  return (
    <article class="view recorded-view">
      <section class="picture">
        <header>
          <h1>{name}</h1>
          {recording.reason && <p class="reason">{capitalised(recording.reason)}</p>}
          <DayChoice day={day} recording={recording} onDay={onDay} />
        </header>
        <RecordedStage
          key={stream}
          stream={stream}
          name={name}
          muted={muted}
          isEmpty={recorded.length === 0}
          latest={latest}
          onViewing={setViewing}
        />
        {viewing && (
          <Transport
            {...{ viewing, day, muted, channel }}
            onMuted={setMuted}
            onChannel={chosen => {
              setChannel(chosen)
              viewing.chooseChannel(chosen)
            }}
          />
        )}
        <div class="times">
          <Timeline
            {...{ day, span, recorded, events, onSeek: seek, onSpan: setZoom }}
            position={playback?.position ?? nowhere}
            clip={
              clip.from !== undefined && clip.to !== undefined ? { from: clip.from, to: clip.to } : undefined
            }
          />
          <ZoomButtons
            onZoom={zoomBy}
            factor={ZOOM}
            onDay={() => setZoom(day)}
            isWhole={span.to - span.from >= day.to - day.from}
          />
        </div>
        <ClipPanel {...{ stream, recorded, clip }} onBegin={begin} onEnd={end} onClear={() => setClip({})} />
      </section>
      {viewing && <CounterCards counters={viewing.counters} shapes={viewing.shapes.value} />}
      {error && !found ? (
        <Notice alarming title={`${capitalised(error)}, retrying`} />
      ) : (
        <DayEvents
          {...{ events, span }}
          more={found?.more ?? false}
          position={playback?.position ?? nowhere}
          onChoose={event => viewing?.show(event)}
        />
      )}
    </article>
  )
}
