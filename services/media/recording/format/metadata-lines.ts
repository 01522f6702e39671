import type { EventToRecord, ResultToRecord } from '@eyrie/contract'

/** An event as the index keeps it. */
export interface IndexedEvent {
  channel: number
  pts: number
  /** When its picture was taken, µs since 1970. */
  timeUs: number
  /** JSON. */
  data: string
}

/** A line beside the pictures. */
export interface MetadataEntry {
  pts: number
  line: string
  event?: IndexedEvent
}

export function toResultEntry({ channel, pts, objects, counters, shapes }: ResultToRecord): MetadataEntry {
  return { pts, line: JSON.stringify({ channel, pts, objects, counters, ...(shapes && { shapes }) }) }
}

export function toEventEntry({ channel, pts, time, data }: EventToRecord): MetadataEntry {
  const event = { channel, pts, timeUs: Date.parse(time) * 1000, data: JSON.stringify(data) }
  return { pts, line: JSON.stringify({ channel, pts, time, event: data }), event }
}

/** The events among the lines of a file, of which a crash may have left the last one torn. */
export const parseEvents = (text: string): IndexedEvent[] =>
  parseJsonLines<Partial<EventToRecord> & { event?: unknown }>(text).flatMap(
    ({ channel, pts, time, event }) =>
      channel === undefined || pts === undefined || time === undefined || event === undefined
        ? []
        : [{ channel, pts, timeUs: Date.parse(time) * 1000, data: JSON.stringify(event) }],
  )

export function parseJsonLines<Line>(text: string): Line[] {
  return text.split('\n').flatMap(line => {
    try {
      return line ? [JSON.parse(line) as Line] : []
    } catch {
      return []
    }
  })
}
