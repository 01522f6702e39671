import type { EventToRecord, ResultToRecord } from '@eyrie/contract'

/** An event of a segment, in the form of the recording index. */
export interface IndexedEvent {
  channel: number
  /** Stream time of the picture, in ticks of 90 kHz. */
  pts: number
  /** Capture time of the picture, µs since 1970. */
  timeUs: number
  /** The event's data as JSON. */
  data: string
}

/** An event as a line of the metadata file, before it is encoded as JSON. */
type EventLine = Pick<EventToRecord, 'channel' | 'pts' | 'time'> & { event: unknown }

/**
 * What is added to a segment: the analysis result of a picture, or an event. `line` is the line of
 * the metadata file. Only an event is also stored in the recording index.
 */
export interface MetadataEntry {
  /** Stream time of the picture, in ticks of 90 kHz. */
  pts: number
  line: string
  event?: IndexedEvent
}

/** Returns the path of the metadata file next to a segment file. */
export const toMetadataPath = (path: string) => path.replace(/\.mp4$/, '.jsonl')

/** Returns the entry of a picture's analysis result. */
export function toResultEntry({
  channel,
  pts,
  objects,
  counters,
  shapes,
}: ResultToRecord): MetadataEntry {
  const result = { channel, pts, objects, counters, ...(shapes && { shapes }) }
  return { pts, line: JSON.stringify(result) }
}

/** Returns the entry of an event. */
export function toEventEntry({ channel, pts, time, data }: EventToRecord): MetadataEntry {
  const line: EventLine = { channel, pts, time, event: data }
  const event = { channel, pts, timeUs: toUs(time), data: JSON.stringify(data) }
  return { pts, line: JSON.stringify(line), event }
}

/** Returns the events in the text of a metadata file. */
export function parseEvents(text: string): IndexedEvent[] {
  const events: IndexedEvent[] = []
  for (const { channel, pts, time, event } of parseJsonLines<Partial<EventLine>>(text)) {
    // Analysis results have no event and no time.
    const isEvent =
      channel !== undefined && pts !== undefined && time !== undefined && event !== undefined
    if (isEvent) events.push({ channel, pts, timeUs: toUs(time), data: JSON.stringify(event) })
  }
  return events
}

/** Converts an ISO 8601 time to µs since 1970. */
const toUs = (time: string) => Date.parse(time) * 1000

/**
 * Parses one JSON value per line. Skips invalid lines, because a crash may have truncated the
 * last line.
 */
export function parseJsonLines<Line>(text: string): Line[] {
  return text.split('\n').flatMap(line => {
    try {
      return line ? [JSON.parse(line) as Line] : []
    } catch {
      return []
    }
  })
}
