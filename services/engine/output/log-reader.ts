import type { LogRecord } from './log-record.ts'
import { readSegment, type Segment } from './log-segment.ts'

/** Reads the log from some number on, at the pace of whoever follows it. */
export interface LogReader {
  /** Whether everything appended so far has been read. */
  isAtEnd(): boolean
  /** The next records, perhaps none; or a gap, if records that should have come are no longer there. */
  next(): Promise<{ gap?: Range; records: LogRecord[] }>
}

export interface Range {
  from: number
  to: number
}

/** What a reader sees of the log while it is written. */
export interface LogView {
  segments: readonly Segment[]
  /** Where the records of the newest segment end. */
  end(): number
  last(): number
}

export function createLogReader(log: LogView, after: number): LogReader {
  let read = after
  let segment: Segment | undefined
  let offset = 0

  const enter = (next: Segment | undefined) => {
    segment = next
    offset = 0
  }
  const skipTo = (to: number) => {
    const gap = to > read ? { from: read + 1, to } : undefined
    read = Math.max(read, to)
    return { gap, records: [] }
  }
  const isRemoved = () => segment === undefined || !log.segments.includes(segment)

  return {
    isAtEnd: () => read >= log.last(),
    next: async () => {
      if (isRemoved()) {
        enter(log.segments.findLast(({ first }) => first <= read + 1) ?? log.segments[0])
        const skipped = skipTo(log.segments[0]!.first - 1)
        if (skipped.gap) return skipped
      }
      const following = log.segments[log.segments.indexOf(segment!) + 1]
      const limit = following ? undefined : log.end()
      const batch = await readSegment(segment!, offset, limit).catch(error => {
        if (isRemoved()) return undefined
        throw error
      })
      if (!batch) return { records: [] }
      offset = batch.end
      const records = batch.records.filter(({ seq }) => seq > read)
      read = Math.max(read, batch.records.at(-1)?.seq ?? 0)
      if (batch.records.length > 0) return { records }
      const next = following?.first ?? log.last() + 1
      enter(following ?? segment)
      return batch.damaged ? skipTo(next - 1) : { records }
    },
  }
}
