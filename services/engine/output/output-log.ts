import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAll } from '@eyrie/kit/durable-file'
import type { Log } from '@eyrie/kit/log'
import { createLogReader, type LogReader } from './log-reader.ts'
import { encodeRecord, type LogRecord } from './log-record.ts'
import {
  createSegment,
  isSegment,
  isUnfinishedSegment,
  recoverSegment,
  type Segment,
  toSegment,
} from './log-segment.ts'

const SEGMENT_BYTES = 16 << 20
/** O_DSYNC makes a write durable by itself: one system call per group of messages instead of write and fdatasync. */
const OPEN_FLAGS = constants.O_RDWR | constants.O_DSYNC

export interface OutputLogOptions {
  folder: string
  /** Space of all segments together. When it is used up, the oldest segment is removed. */
  maxBytes: number
  segmentBytes?: number
  /** Called when the messages up to a number have been removed. */
  onRemoved?(upTo: number): void
  log: Log
}

/** Stores durable messages in files of fixed size, for one writer and any number of readers. */
export interface OutputLog {
  /** Finds the end of the log and removes a torn record left by a crash. */
  open(): Promise<void>
  /** Resolves when the records would survive a power failure. Records that were already appended are ignored. */
  append(records: LogRecord[]): Promise<void>
  /** The greatest number that has been removed; 0 if none. */
  removedUpTo(): number
  /** The greatest number that has been appended; 0 if none. */
  last(): number
  /** The share of the log's space that segments with numbers greater than `after` occupy, 0..1. */
  shareAfter(after: number): number
  /** Creates a reader of the records with numbers greater than `after`. */
  createReader(after: number): LogReader
  close(): Promise<void>
}

export function createOutputLog({
  folder,
  maxBytes,
  segmentBytes = SEGMENT_BYTES,
  onRemoved,
  log,
}: OutputLogOptions): OutputLog {
  const maxSegments = Math.max(2, Math.floor(maxBytes / segmentBytes))
  const segments: Segment[] = []
  /** The newest segment, which is being written. */
  let file: FileHandle | undefined
  let end = 0
  let last = 0

  const removeOldest = async () => {
    await rm(segments[0]!.path, { force: true })
    segments.shift()
    onRemoved?.((segments[0]?.first ?? last + 1) - 1)
  }

  const startSegment = async (minBytes: number) => {
    const first = last + 1
    const bytes = Math.max(segmentBytes, minBytes)
    while (segments.length >= maxSegments) await removeOldest()
    const segment = await createSegment(folder, first, bytes).catch(async error => {
      if (error.code !== 'ENOSPC' || segments.length < 2) throw error
      await removeOldest()
      return createSegment(folder, first, bytes)
    })
    await file?.close()
    file = await open(segment.path, OPEN_FLAGS)
    segments.push(segment)
    end = 0
  }

  const write = async (records: LogRecord[], encoded: Buffer[]) => {
    if (records.length === 0) return
    const bytes = Buffer.concat(encoded)
    await writeAll(file!, bytes, end)
    end += bytes.length
    last = records.at(-1)!.seq
  }

  return {
    open: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const names = await readdir(folder)
      for (const name of names.filter(isUnfinishedSegment)) await rm(join(folder, name))
      for (const name of names.filter(isSegment).sort()) segments.push(toSegment(join(folder, name)))
      const newest = segments.at(-1)
      if (!newest) return
      const recovered = await recoverSegment(newest)
      if (recovered.isTorn)
        log.warn({ file: newest.path }, 'removed torn record after a crash; it was never sent')
      end = recovered.end
      last = recovered.last ?? newest.first - 1
      file = await open(newest.path, OPEN_FLAGS)
    },
    append: async records => {
      const added = records.filter(({ seq }) => seq > last)
      const encoded = added.map(encodeRecord)
      let start = 0
      let size = 0
      for (const [index, { length }] of encoded.entries()) {
        if (!file || end + size + length > segmentBytes) {
          await write(added.slice(start, index), encoded.slice(start, index))
          await startSegment(length)
          start = index
          size = 0
        }
        size += length
      }
      await write(added.slice(start), encoded.slice(start))
    },
    removedUpTo: () => (segments[0]?.first ?? 1) - 1,
    last: () => last,
    shareAfter: after => {
      const firstIndex = segments.findIndex(
        (_, index) => (segments[index + 1]?.first ?? last + 1) > after + 1,
      )
      const count = firstIndex === -1 ? 0 : segments.length - firstIndex
      return Math.min(1, count / maxSegments)
    },
    createReader: after => createLogReader({ segments, end: () => end, last: () => last }, after),
    close: async () => {
      await file?.close()
      file = undefined
    },
  }
}
