import type { EventToRecord, ResultToRecord } from '@eyrie/contract'

/** An event as the index keeps it. */
export interface NotedEvent {
  channel: number
  pts: number
  /** When its picture was taken, µs since 1970. */
  timeUs: number
  /** JSON. */
  data: string
}

/** A line beside the pictures. */
export interface Note {
  pts: number
  line: string
  event?: NotedEvent
}

export function resultNote({ channel, pts, objects, counters, shapes }: ResultToRecord): Note {
  return { pts, line: JSON.stringify({ channel, pts, objects, counters, ...(shapes && { shapes }) }) }
}

export function eventNote({ channel, pts, time, data }: EventToRecord): Note {
  const event = { channel, pts, timeUs: Date.parse(time) * 1000, data: JSON.stringify(data) }
  return { pts, line: JSON.stringify({ channel, pts, time, event: data }), event }
}

/** The events among the lines of a file, of which a crash may have left the last one torn. */
export const eventsIn = (text: string): NotedEvent[] =>
  linesOf<Partial<EventToRecord> & { event?: unknown }>(text).flatMap(({ channel, pts, time, event }) =>
    channel === undefined || pts === undefined || time === undefined || event === undefined
      ? []
      : [{ channel, pts, timeUs: Date.parse(time) * 1000, data: JSON.stringify(event) }],
  )

export function linesOf<Line>(text: string): Line[] {
  return text.split('\n').flatMap(line => {
    try {
      return line ? [JSON.parse(line) as Line] : []
    } catch {
      return []
    }
  })
}
