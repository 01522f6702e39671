import type { RecordedSource, RecordedStream, RecordingList } from '@eyrie/contract/recording'
import { useEffect, useRef, useState } from 'preact/hooks'
import { usePolling } from '../api/use-polling.ts'
import { Notice, Unreachable } from '../ui/notice.tsx'
import { usePageTitle } from '../ui/router.tsx'
import { readLinkedTime } from './deep-link.ts'
import { RecordedSourceList } from './recorded-source-list.tsx'
import { RecordingView } from './recording-view.tsx'
import { type CalendarDay, getDay } from './timeline/calendar-day.ts'
import '../ui/page.css'

const RECORDINGS_INTERVAL_MS = 5_000
const SOURCES_INTERVAL_MS = 30_000

/** A list of all recorded sources next to one day of the selected source, by default the first. */
export function RecordingsPage({ selected }: { selected?: number }) {
  /** The time on display. It is preserved when another source is selected. */
  const position = useRef(useState(readLinkedTime)[0])
  const [day, setDay] = useState<CalendarDay>(() => getDay(position.current ?? Date.now()))
  const query = new URLSearchParams({
    from: new Date(day.from).toISOString(),
    to: new Date(day.to).toISOString(),
  })
  const { data: list, error } = usePolling<RecordingList>(
    `/live/recordings?${query}`,
    RECORDINGS_INTERVAL_MS,
  ).value
  const sources = usePolling<RecordedSource[]>('/live/recordings/sources', SOURCES_INTERVAL_MS).value.data
  const streams = list?.streams ?? []
  const recording = streams.find(({ stream }) => stream === (selected ?? streams[0]?.stream))
  const getName = (stream: number) => sources?.find(({ id }) => id === stream)?.name ?? `Source ${stream}`
  useLastRecordedDay(recording, position.current, day, setDay)
  usePageTitle(recording ? `Recordings of ${getName(recording.stream)}` : 'Recordings')

  if (!list) return error ? <Unreachable reason={error} /> : <Notice title="Connecting…" />
  if (streams.length === 0) return list.rebuilding ? <Rebuilding /> : <NoRecordings />
  return (
    <div class={streams.length > 1 ? 'page' : 'page single'}>
      {error && <Unreachable reason={error} isStale />}
      {list.rebuilding && <Rebuilding />}
      {streams.length > 1 && (
        <RecordedSourceList {...{ streams, getName, day }} current={recording?.stream} />
      )}
      {recording ? (
        <RecordingView
          key={recording.stream}
          {...{ recording, day, position }}
          name={getName(recording.stream)}
          onDay={setDay}
        />
      ) : (
        <Notice title={`No recordings of source ${selected}`}>Select another source.</Notice>
      )}
    </div>
  )
}

/** Selects the last recorded day, once, unless the address contains a time. */
function useLastRecordedDay(
  recording: RecordedStream | undefined,
  linkedMs: number | undefined,
  day: CalendarDay,
  setDay: (day: CalendarDay) => void,
) {
  const [isSelected, setSelected] = useState(linkedMs !== undefined)
  useEffect(() => {
    if (isSelected || !recording?.last) return
    setSelected(true)
    const lastDay = getDay(Date.parse(recording.last) - 1)
    if (lastDay.text !== day.text && recording.ranges.length === 0) setDay(lastDay)
  }, [isSelected, recording, day, setDay])
}

const Rebuilding = () => (
  <Notice title="Rebuilding the index of recordings">
    The list is incomplete until the index has been rebuilt.
  </Notice>
)

const NoRecordings = () => (
  <Notice title="No recordings yet">
    To record a source, send a <code>PATCH</code> to <code>/api/v3/sources/1</code> of the engine with{' '}
    <code>{'{"recording": {"mode": "continuous"}}'}</code>
  </Notice>
)
