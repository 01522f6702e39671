import type { RecordedStream } from '@eyrie/contract/recording'
import { duration } from '../ui/format.ts'
import { Link } from '../ui/router.tsx'
import { SideList } from '../ui/side-list.tsx'
import type { Day } from './timeline/calendar-day.ts'
import { lengthMs, recordedOf } from './playback/recorded-ranges.ts'
import '../ui/status.css'
import './recorded-source-list.css'

interface SourceListProps {
  streams: readonly RecordedStream[]
  nameOf(stream: number): string
  day: Day
  current: number
}

const states = {
  recording: 'recording',
  waiting: 'waiting',
  failed: 'not recorded',
  off: 'not recorded now',
} as const

/** Everything that is recorded or was, with how much of the day there is. */
export function SourceList({ streams, nameOf, day, current }: SourceListProps) {
  return (
    <SideList class="recorded-sources" label="Recorded sources" current={current}>
      {streams.map(({ stream, state, reason, ranges }) => {
        const seconds = lengthMs(recordedOf(ranges), day) / 1000
        return (
          <Link key={stream} to={`/recordings/${stream}`} current={stream === current}>
            <span class="name" title={nameOf(stream)}>
              {nameOf(stream)}
            </span>
            <span class={`status ${state}`} title={reason}>
              {states[state]}
            </span>
            <span class="details">
              {seconds >= 1 ? `${duration(seconds)} of this day` : 'nothing on this day'}
            </span>
          </Link>
        )
      })}
    </SideList>
  )
}
