import type { LogRecord } from './log-record.ts'
import { type ReadRange, readSegment, type Segment, type SegmentBatch } from './log-segment.ts'

/**
 * Reads the output log, in which the engine stores its durable messages. The records are read in
 * batches, in the order of their sequence numbers. The log is a series of files, its segments.
 * Between two calls of `next`, the log may grow, and its oldest segments may be deleted.
 */
export interface LogReader {
  /** Whether all records that were appended so far have been read. */
  isAtEnd(): boolean
  /**
   * Returns the next records, or else a gap in the log. Returns neither if there are no
   * further records yet.
   */
  next(): Promise<LogBatch>
}

export interface LogBatch {
  records: LogRecord[]
  /** Records that cannot be read, because they were deleted or are damaged. */
  gap?: Range | undefined
}

/** A range of sequence numbers, both ends included. */
export interface Range {
  from: number
  to: number
}

/** The log as its readers see it. Records are appended to the newest segment. */
export interface ReadableLog {
  /** The segments from oldest to newest. */
  segments: readonly Segment[]
  /** Size in bytes of the records in the newest segment. */
  endOffset(): number
  /** The highest sequence number in the log. */
  lastSeq(): number
}

interface Position {
  segment: Segment
  offset: number
}

/** Creates a reader that starts after the sequence number `after`. */
export function createLogReader(log: ReadableLog, after: number): LogReader {
  let lastRead = after
  let position: Position | undefined

  /**
   * Finds the segment that contains the next record, or the oldest segment if that record was
   * deleted.
   */
  function findStart(): Position {
    const nextSeq = lastRead + 1
    const segment = log.segments.findLast(({ firstSeq }) => firstSeq <= nextSeq)
    return { segment: segment ?? log.segments[0]!, offset: 0 }
  }

  /** Marks everything up to `seq` as read. Returns the skipped range; undefined if it is empty. */
  function skipTo(seq: number): Range | undefined {
    if (seq <= lastRead) return undefined
    const gap = { from: lastRead + 1, to: seq }
    lastRead = seq
    return gap
  }

  /** Reads a batch. Returns undefined if the segment was deleted during the read. */
  async function tryReadSegment(
    segment: Segment,
    range: ReadRange,
  ): Promise<SegmentBatch | undefined> {
    try {
      return await readSegment(segment, range)
    } catch (error) {
      const wasDeleted = !log.segments.includes(segment)
      if (wasDeleted) return undefined
      throw error
    }
  }

  async function readFrom({ segment, offset }: Position): Promise<LogBatch> {
    const nextSegment = log.segments[log.segments.indexOf(segment) + 1]
    // Only the newest segment is still written.
    const endOffset = nextSegment ? undefined : log.endOffset()
    const batch = await tryReadSegment(segment, { offset, endOffset })
    // The segment was deleted. The next call finds and reports the gap.
    if (!batch) return { records: [] }

    const newest = batch.records.at(-1)
    if (newest) {
      position = { segment, offset: batch.endOffset }
      const records = batch.records.filter(({ seq }) => seq > lastRead)
      lastRead = Math.max(lastRead, newest.seq)
      return { records }
    }

    // Nothing more can be read in this segment.
    if (nextSegment) position = { segment: nextSegment, offset: 0 }
    if (!batch.isDamaged) return { records: [] }

    const nextReadable = nextSegment ? nextSegment.firstSeq : log.lastSeq() + 1
    return { records: [], gap: skipTo(nextReadable - 1) }
  }

  return {
    isAtEnd: () => lastRead >= log.lastSeq(),
    next: async () => {
      if (!position || !log.segments.includes(position.segment)) {
        position = findStart()
        const gap = skipTo(log.segments[0]!.firstSeq - 1)
        if (gap) return { records: [], gap }
      }
      return readFrom(position)
    },
  }
}
