import type { RecordedStream } from '@eyrie/contract/recording'
import { formatDuration } from '../ui/format.ts'
import { Link } from '../ui/router.tsx'
import { SideList } from '../ui/side-list.tsx'
import { countRecordedMs, parseRanges } from './playback/recorded-ranges.ts'
import type { CalendarDay } from './timeline/calendar-day.ts'
import '../ui/status.css'
import './recorded-source-list.css'

interface RecordedSourceListProps {
  streams: readonly RecordedStream[]
  getName(stream: number): string
  day: CalendarDay
  current: number | undefined
}

/** How the state of a recording is named in the list. */
const STATE_TEXTS = {
  recording: 'recording',
  waiting: 'waiting',
  failed: 'recording failed',
  off: 'not recording',
} as const

/** Links to all sources with recordings, each with the recorded time of the day. */
export function RecordedSourceList({ streams, getName, day, current }: RecordedSourceListProps) {
  return (
    <SideList class="recorded-sources" label="Recorded sources" current={current}>
      {streams.map(({ stream, state, reason, ranges }) => {
        const seconds = countRecordedMs(parseRanges(ranges), day) / 1000
        return (
          <Link key={stream} to={`/recordings/${stream}`} current={stream === current}>
            <span class="name" title={getName(stream)}>
              {getName(stream)}
            </span>
            <span class={`status ${state}`} title={reason}>
              {STATE_TEXTS[state]}
            </span>
            <span class="details">
              {seconds >= 1 ? `${formatDuration(seconds)} on this day` : 'nothing on this day'}
            </span>
          </Link>
        )
      })}
    </SideList>
  )
}
