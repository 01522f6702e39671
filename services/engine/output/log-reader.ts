import type { LogRecord } from './log-record.ts'
import { readSegment, type Segment } from './log-segment.ts'

/** Reads the log from a given number on, at the pace of its caller. */
export interface LogReader {
  /** Whether everything appended so far has been read. */
  isAtEnd(): boolean
  /** Returns the next records, possibly none, or a gap if records have been removed or damaged. */
  next(): Promise<{ gap?: Range; records: LogRecord[] }>
}

export interface Range {
  from: number
  to: number
}

/** The state of a log that is being written. */
export interface LogView {
  segments: readonly Segment[]
  /** Offset of the end of the records in the newest segment. */
  end(): number
  last(): number
}

export function createLogReader(log: LogView, after: number): LogReader {
  let lastRead = after
  let segment: Segment | undefined
  let offset = 0

  const enter = (next: Segment | undefined) => {
    segment = next
    offset = 0
  }
  const skipTo = (seq: number) => {
    const gap = seq > lastRead ? { from: lastRead + 1, to: seq } : undefined
    lastRead = Math.max(lastRead, seq)
    return { gap, records: [] }
  }
  const isRemoved = () => segment === undefined || !log.segments.includes(segment)

  return {
    isAtEnd: () => lastRead >= log.last(),
    next: async () => {
      if (isRemoved()) {
        enter(log.segments.findLast(({ first }) => first <= lastRead + 1) ?? log.segments[0])
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
      const records = batch.records.filter(({ seq }) => seq > lastRead)
      lastRead = Math.max(lastRead, batch.records.at(-1)?.seq ?? 0)
      if (batch.records.length > 0) return { records }
      const firstOfNext = following?.first ?? log.last() + 1
      enter(following ?? segment)
      return batch.isDamaged ? skipTo(firstOfNext - 1) : { records }
    },
  }
}
