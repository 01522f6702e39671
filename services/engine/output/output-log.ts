import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAll } from '@eyrie/kit/durable-file'
import type { Log } from '@eyrie/kit/log'
import { createLogReader, type LogReader } from './log-reader.ts'
import { encodeRecord, type LogRecord } from './log-record.ts'
import {
  createSegment,
  isUnfinishedSegment,
  parseSegmentName,
  recoverSegment,
  type Segment,
} from './log-segment.ts'

const DEFAULT_SEGMENT_BYTES = 16 << 20
/** The newest segment is never deleted, so there must be an older one that can be deleted. */
const MIN_SEGMENTS = 2
/**
 * With O_DSYNC every write is durable when it returns: one system call instead of
 * write and fdatasync.
 */
const OPEN_FLAGS = constants.O_RDWR | constants.O_DSYNC

/**
 * Where the output log is stored, and how large it may be. The log contains the durable
 * messages of the engine.
 */
export interface OutputLogOptions {
  folder: string
  /**
   * Maximum size of all segments together. The oldest segment is deleted to make room for a new
   * one.
   */
  maxBytes: number
  segmentBytes?: number
  /** Called after the messages up to a sequence number have been deleted. */
  onRemoved?(upTo: number): void
  log: Log
}

/**
 * Stores the durable messages of the engine on disk, in segment files of fixed size, so that
 * clients can read them later. Supports one writer and any number of readers.
 */
export interface OutputLog {
  /** Finds the end of the log. Erases the incomplete record that a crash may have left there. */
  open(): Promise<void>
  /**
   * Resolves when the records would survive a power failure. Records that were already
   * appended are ignored.
   */
  append(records: LogRecord[]): Promise<void>
  /** The highest sequence number that has been deleted; 0 if none has. */
  removedUpTo(): number
  /** The highest sequence number that has been appended; 0 if none has. */
  lastSeq(): number
  /**
   * The share of the log's space, 0..1, in segments with messages newer than the
   * sequence number `after`.
   */
  shareAfter(after: number): number
  /** Creates a reader that starts after the sequence number `after`. */
  createReader(after: number): LogReader
  close(): Promise<void>
}

interface EncodedRecord {
  seq: number
  bytes: Buffer
}

export function createOutputLog({
  folder,
  maxBytes,
  segmentBytes = DEFAULT_SEGMENT_BYTES,
  onRemoved,
  log,
}: OutputLogOptions): OutputLog {
  const maxSegments = Math.max(MIN_SEGMENTS, Math.floor(maxBytes / segmentBytes))
  const segments: Segment[] = []
  /** The newest segment. Records are written at `endOffset`. */
  let file: FileHandle | undefined
  let endOffset = 0
  let lastSeq = 0

  async function removeOldest(): Promise<void> {
    await rm(segments[0]!.path, { force: true })
    segments.shift()
    const nextSeq = segments[0]?.firstSeq ?? lastSeq + 1
    onRemoved?.(nextSeq - 1)
  }

  /**
   * Continues in a new segment, which has room for `minBytes`. Deletes the oldest one if
   * there is no space for it.
   */
  async function startSegment(minBytes: number): Promise<void> {
    const firstSeq = lastSeq + 1
    const size = Math.max(segmentBytes, minBytes)
    while (segments.length >= maxSegments) await removeOldest()

    const options = { folder, firstSeq, size }
    const segment = await createSegment(options).catch(async error => {
      const canMakeRoom = error.code === 'ENOSPC' && segments.length >= MIN_SEGMENTS
      if (!canMakeRoom) throw error
      await removeOldest()
      return createSegment(options)
    })

    await file?.close()
    file = await open(segment.path, OPEN_FLAGS)
    segments.push(segment)
    endOffset = 0
  }

  async function write(records: EncodedRecord[]): Promise<void> {
    const newest = records.at(-1)
    if (!newest) return
    const bytes = Buffer.concat(records.map(record => record.bytes))
    await writeAll(file!, bytes, endOffset)
    endOffset += bytes.length
    lastSeq = newest.seq
  }

  /** Writes the records with one system call per segment. */
  async function append(records: LogRecord[]): Promise<void> {
    const newRecords = records.filter(({ seq }) => seq > lastSeq)
    /** The records that fit into the current segment. */
    let group: EncodedRecord[] = []
    let groupBytes = 0
    for (const record of newRecords) {
      const bytes = encodeRecord(record)
      const fits = endOffset + groupBytes + bytes.length <= segmentBytes
      if (!file || !fits) {
        await write(group)
        await startSegment(bytes.length)
        group = []
        groupBytes = 0
      }
      group.push({ seq: record.seq, bytes })
      groupBytes += bytes.length
    }
    await write(group)
  }

  return {
    open: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const names = await readdir(folder)
      for (const name of names.filter(isUnfinishedSegment)) await rm(join(folder, name))
      segments.push(...findSegments(folder, names))

      const newest = segments.at(-1)
      if (!newest) return

      const recovered = await recoverSegment(newest)
      if (recovered.wasTorn) {
        log.warn({ file: newest.path }, 'erased an incomplete record after a crash')
      }
      endOffset = recovered.endOffset
      lastSeq = recovered.lastSeq ?? newest.firstSeq - 1
      file = await open(newest.path, OPEN_FLAGS)
    },
    append,
    removedUpTo: () => (segments[0]?.firstSeq ?? 1) - 1,
    lastSeq: () => lastSeq,
    shareAfter: after => {
      const newerSegments = segments.filter((_, index) => {
        const nextSeq = segments[index + 1]?.firstSeq ?? lastSeq + 1
        return nextSeq - 1 > after
      })
      return Math.min(1, newerSegments.length / maxSegments)
    },
    createReader: after =>
      createLogReader({ segments, endOffset: () => endOffset, lastSeq: () => lastSeq }, after),
    close: async () => {
      await file?.close()
      file = undefined
    },
  }
}

/** Returns the segments among the files of a folder, oldest first. */
function findSegments(folder: string, names: readonly string[]): Segment[] {
  const segments: Segment[] = []
  for (const name of [...names].sort()) {
    const segment = parseSegmentName(folder, name)
    if (segment) segments.push(segment)
  }
  return segments
}
