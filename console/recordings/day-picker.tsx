import type { RecordedStream } from '@eyrie/contract/recording'
import { Icon } from '../ui/icons.tsx'
import {
  addDays,
  type CalendarDay,
  describeClockChange,
  getDay,
  parseDay,
} from './timeline/calendar-day.ts'

interface DayPickerProps {
  day: CalendarDay
  recording: RecordedStream
  onDay(day: CalendarDay): void
}

/** Selects the day to show, between the days of the first and the last recording. */
export function DayPicker({ day, recording, onDay }: DayPickerProps) {
  const { first, last } = recording
  const earliest = first === undefined ? day : getDay(Date.parse(first))
  const latest = last === undefined ? day : getDay(Date.parse(last))
  const clockChange = describeClockChange(day)
  return (
    <div class="day-picker">
      {clockChange && <span class="clock-change">{clockChange}</span>}
      <button
        type="button"
        aria-label="Previous day"
        title="Previous day"
        disabled={day.from <= earliest.from}
        onClick={() => onDay(addDays(day, -1))}
      >
        <Icon name="previous" />
      </button>
      <input
        type="date"
        aria-label="Day"
        value={day.text}
        min={earliest.text}
        max={latest.text}
        onChange={event => {
          const selected = parseDay(event.currentTarget.value)
          if (selected) onDay(selected)
        }}
      />
      <button
        type="button"
        aria-label="Next day"
        title="Next day"
        disabled={day.from >= latest.from}
        onClick={() => onDay(addDays(day, 1))}
      >
        <Icon name="next" />
      </button>
    </div>
  )
}
