import type { EventToRecord, ResultToRecord } from '@eyrie/contract'

/** An event as stored in the index. */
export interface IndexedEvent {
  channel: number
  pts: number
  /** Capture time of its picture, µs since 1970. */
  timeUs: number
  /** JSON. */
  data: string
}

/** A line of a segment's metadata file: the result of a picture, or an event. */
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

/** Parses the events of a metadata file. */
export function parseEvents(text: string): IndexedEvent[] {
  const lines = parseJsonLines<Partial<EventToRecord> & { event?: unknown }>(text)
  return lines.flatMap(({ channel, pts, time, event }) =>
    channel === undefined || pts === undefined || time === undefined || event === undefined
      ? []
      : [{ channel, pts, timeUs: Date.parse(time) * 1000, data: JSON.stringify(event) }],
  )
}

/** Skips lines that are no JSON: a crash may have truncated the last one. */
export function parseJsonLines<Line>(text: string): Line[] {
  return text.split('\n').flatMap(line => {
    try {
      return line ? [JSON.parse(line) as Line] : []
    } catch {
      return []
    }
  })
}
