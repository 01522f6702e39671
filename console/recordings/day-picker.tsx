import type { RecordedStream } from '@eyrie/contract/recording'
import { clockChange, type Day, dayAfter, dayAt, dayNamed } from './timeline/calendar-day.ts'
import { Icon } from '../ui/icons.tsx'

interface DayChoiceProps {
  day: Day
  recording: RecordedStream
  onDay(day: Day): void
}

/** From the first day of which something is kept to the last. */
export function DayChoice({ day, recording: { first, last }, onDay }: DayChoiceProps) {
  const earliest = first === undefined ? day : dayAt(Date.parse(first))
  const latest = last === undefined ? day : dayAt(Date.parse(last))
  const change = clockChange(day)
  return (
    <div class="day-choice">
      {change && <span class="change">{change}</span>}
      <button
        type="button"
        aria-label="The day before"
        title="The day before"
        disabled={day.from <= earliest.from}
        onClick={() => onDay(dayAfter(day, -1))}
      >
        <Icon name="earlier" />
      </button>
      <input
        type="date"
        aria-label="Day"
        value={day.text}
        min={earliest.text}
        max={latest.text}
        onChange={event => {
          const chosen = dayNamed(event.currentTarget.value)
          if (chosen) onDay(chosen)
        }}
      />
      <button
        type="button"
        aria-label="The day after"
        title="The day after"
        disabled={day.from >= latest.from}
        onClick={() => onDay(dayAfter(day, 1))}
      >
        <Icon name="later" />
      </button>
    </div>
  )
}
