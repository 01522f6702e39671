import type { RecordedSource, RecordedStream, RecordingList } from '@eyrie/contract/recording'
import { useEffect, useRef, useState } from 'preact/hooks'
import { usePolled } from '../api/use-polling.ts'
import { Notice, Unreachable } from '../ui/notice.tsx'
import { useTitle } from '../ui/title.ts'
import { type Day, dayAt } from './timeline/calendar-day.ts'
import { placeInAddress } from './deep-link.ts'
import { RecordedView } from './recording-view.tsx'
import { SourceList } from './recorded-source-list.tsx'
import '../ui/page.css'

const LIST_EVERY_MS = 5_000
const NAMES_EVERY_MS = 30_000

/** All that is recorded, and a day of one source in large: the selected one, else the first. */
export function RecordingsPage({ selected }: { selected?: number }) {
  /** What is shown, or is to be: also when it is looked at by another camera. */
  const place = useRef(useState(placeInAddress)[0])
  const [day, setDay] = useState<Day>(() => dayAt(place.current ?? Date.now()))
  const times = new URLSearchParams({
    from: new Date(day.from).toISOString(),
    to: new Date(day.to).toISOString(),
  })
  const { data: list, error } = usePolled<RecordingList>(`/live/recordings?${times}`, LIST_EVERY_MS).value
  const names = usePolled<RecordedSource[]>('/live/recordings/sources', NAMES_EVERY_MS).value.data
  const streams = list?.streams ?? []
  const recording = streams.find(({ stream }) => stream === (selected ?? streams[0]?.stream))
  const nameOf = (stream: number) => names?.find(({ id }) => id === stream)?.name ?? `Source ${stream}`
  useLastDay(recording, place.current, day, setDay)
  useTitle(recording ? `Recordings of ${nameOf(recording.stream)}` : 'Recordings')

  if (!list) return error ? <Unreachable reason={error} /> : <Notice title="Connecting…" />
  if (streams.length === 0) return list.rebuilding ? <Rebuilding /> : <NothingYet />
  return (
    <div class={streams.length > 1 ? 'page' : 'page single'}>
      {error && <Unreachable reason={error} isStale />}
      {list.rebuilding && <Rebuilding />}
      {streams.length > 1 && (
        <SourceList {...{ streams, nameOf, day }} current={recording?.stream ?? Number.NaN} />
      )}
      {recording ? (
        <RecordedView
          key={recording.stream}
          {...{ recording, day, place }}
          name={nameOf(recording.stream)}
          onDay={setDay}
        />
      ) : (
        <Notice title={`Nothing is recorded of source ${selected}`}>Choose another.</Notice>
      )}
    </div>
  )
}

/** Who asks for no day sees the last one of which there is something. */
function useLastDay(
  recording: RecordedStream | undefined,
  at: number | undefined,
  day: Day,
  setDay: (day: Day) => void,
) {
  const [settled, setSettled] = useState(at !== undefined)
  useEffect(() => {
    if (settled || !recording?.last) return
    setSettled(true)
    const last = dayAt(Date.parse(recording.last) - 1)
    if (last.text !== day.text && recording.ranges.length === 0) setDay(last)
  }, [settled, recording, day, setDay])
}

const Rebuilding = () => (
  <Notice title="The index of recordings is being made anew">There is more than is listed so far.</Notice>
)

const NothingYet = () => (
  <Notice title="Nothing has been recorded yet">
    A source is recorded once its <code>recording</code> says so, as in a <code>PATCH</code> of the engine’s{' '}
    <code>/api/v3/sources/1</code> with <code>{'{"recording": {"mode": "continuous"}}'}</code>
  </Notice>
)
