import type { RecordedSource, RecordedStream, RecordingList } from '@eyrie/contract/recording'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Polled, usePolling } from '../api/use-polling.ts'
import { isLimitedToAssignments } from '../api/user-session.ts'
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
 * The recordings of the selected source on one day, next to a list of all recorded sources. Without
 * `selected`, shows the first source. Without a time in the URL, starts with today.
 */
export function RecordingsPage({ selected }: { selected?: number }) {
  /** The time in the URL, if the page was opened by a link to a time. */
  const [linkedMs] = useState(readLinkedTime)
  /** The displayed time. It is preserved when the user selects another source. */
  const position = useRef(linkedMs)
  const [day, setDay] = useState<CalendarDay>(() => getDay(linkedMs ?? Date.now()))
  const { data: recordings, error } = useRecordings(day)
  const sources = usePolling<RecordedSource[]>(SOURCES_PATH, SOURCES_INTERVAL_MS).value.data

  const streams = recordings?.streams ?? []
  const recording =
    selected === undefined ? streams[0] : streams.find(({ stream }) => stream === selected)
  const getName = (stream: number) => {
    const source = sources?.find(({ id }) => id === stream)
    return source?.name ?? `Source ${stream}`
  }
  useLastRecordedDay(recording, { isDayLinked: linkedMs !== undefined, day, setDay })
  usePageTitle(recording ? `Recordings of ${getName(recording.stream)}` : 'Recordings')

  if (!recordings) return error ? <Unreachable reason={error} /> : <Notice title="Connecting…" />
  if (streams.length === 0) return recordings.rebuilding ? <Rebuilding /> : <NoRecordings />
  return (
    <div class={streams.length > 1 ? 'page' : 'page single'}>
      {error && <Unreachable reason={error} isStale />}
      {recordings.rebuilding && <Rebuilding />}
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

/**
 * Fetches the recordings of all sources on a day. Until they are loaded, returns those of the
 * previous day, so that the player remains open.
 */
function useRecordings({ from, to }: CalendarDay): Polled<RecordingList> {
  const query = new URLSearchParams({
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  })
  const path = `/live/recordings?${query}`
  const { data, error } = usePolling<RecordingList>(path, RECORDINGS_INTERVAL_MS).value
  const latest = useRef(data)
  latest.current = data ?? latest.current
  return { data: latest.current, error }
}

interface DaySelection {
  /** Whether the URL contains a time. The day of this time remains selected. */
  isDayLinked: boolean
  day: CalendarDay
  setDay(day: CalendarDay): void
}

/**
 * Selects the last recorded day if the source has no recording on the initial day. This happens at
 * most once, when the recordings are loaded.
 */
function useLastRecordedDay(
  recording: RecordedStream | undefined,
  { isDayLinked, day, setDay }: DaySelection,
) {
  const [hasInitialDay, setHasInitialDay] = useState(isDayLinked)
  useEffect(() => {
    if (hasInitialDay || !recording?.last) return
    setHasInitialDay(true)
    // The end is exclusive: a recording that ends at midnight belongs to the day before.
    const lastDay = getDay(Date.parse(recording.last) - 1)
    if (lastDay.text !== day.text && recording.ranges.length === 0) setDay(lastDay)
  }, [hasInitialDay, recording, day, setDay])
}

const Rebuilding = () => (
  <Notice title="Rebuilding the index of recordings">
    The list is incomplete until the index has been rebuilt.
  </Notice>
)

function NoRecordings() {
  if (isLimitedToAssignments()) {
    return (
      <Notice title="No recordings of your channels">
        An administrator can record their sources, or assign other channels to you.
      </Notice>
    )
  }
  return (
    <Notice title="No recordings yet">
      To record a source, send a <code>PATCH</code> to <code>/api/v3/sources/1</code> of the engine
      with <code>{'{"recording": {"mode": "continuous"}}'}</code>
    </Notice>
  )
}
