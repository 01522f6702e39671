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
const SOURCES_PATH = '/live/recordings/sources'
const SOURCES_INTERVAL_MS = 30_000

/**
 * The recordings of one source on one day, next to a list of all recorded sources. By default the
 * first source and today.
 */
export function RecordingsPage({ selected }: { selected?: number }) {
  /** The time in the URL, if the page was opened by a link to a time. */
  const [linkedMs] = useState(readLinkedTime)
  /** The displayed time. It is preserved when the user selects another source. */
  const position = useRef(linkedMs)
  const [day, setDay] = useState<CalendarDay>(() => getDay(linkedMs ?? Date.now()))
  const { data: list, error } = useRecordings(day).value
  const { data: sources } = usePolling<RecordedSource[]>(SOURCES_PATH, SOURCES_INTERVAL_MS).value

  const streams = list?.streams ?? []
  const recording =
    selected === undefined ? streams[0] : streams.find(({ stream }) => stream === selected)
  const getName = (stream: number) => {
    const source = sources?.find(({ id }) => id === stream)
    return source?.name ?? `Source ${stream}`
  }
  useLastRecordedDay(recording, { isDayLinked: linkedMs !== undefined, day, setDay })
  usePageTitle(recording ? `Recordings of ${getName(recording.stream)}` : 'Recordings')

  if (!list) return error ? <Unreachable reason={error} /> : <Notice title="Connecting…" />
  if (streams.length === 0) return list.rebuilding ? <Rebuilding /> : <NoRecordings />
  return (
    <div class={streams.length > 1 ? 'page' : 'page single'}>
      {error && <Unreachable reason={error} isStale />}
      {list.rebuilding && <Rebuilding />}
      {streams.length > 1 && (
        <RecordedSourceList
          streams={streams}
          getName={getName}
          day={day}
          current={recording?.stream}
        />
      )}
      {recording ? (
        <RecordingView
          key={recording.stream}
          recording={recording}
          name={getName(recording.stream)}
          day={day}
          onDay={setDay}
          position={position}
        />
      ) : (
        <Notice title={`No recordings of source ${selected}`}>Select another source.</Notice>
      )}
    </div>
  )
}

/** Fetches the list of recorded sources, with what is recorded on a day. */
function useRecordings({ from, to }: CalendarDay) {
  const query = new URLSearchParams({
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  })
  return usePolling<RecordingList>(`/live/recordings?${query}`, RECORDINGS_INTERVAL_MS)
}

interface DaySelection {
  /** Whether the URL contains a time. Its day remains selected. */
  isDayLinked: boolean
  day: CalendarDay
  setDay(day: CalendarDay): void
}

/** Selects the last recorded day once, when the recording is loaded and has nothing on this day. */
function useLastRecordedDay(
  recording: RecordedStream | undefined,
  { isDayLinked, day, setDay }: DaySelection,
) {
  const [isSelected, setSelected] = useState(isDayLinked)
  useEffect(() => {
    if (isSelected || !recording?.last) return
    setSelected(true)
    // The end of a recording is exclusive. A recording may end at midnight.
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
    To record a source, send a <code>PATCH</code> to <code>/api/v3/sources/1</code> of the engine
    with <code>{'{"recording": {"mode": "continuous"}}'}</code>
  </Notice>
)
