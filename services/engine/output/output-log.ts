import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeAll } from '@eyrie/kit/durable-file'
import type { Log } from '@eyrie/kit/log'
import { createLogReader, type LogReader } from './log-reader.ts'
import { encodeRecord, type LogRecord } from './log-record.ts'
import { createSegment, isDraft, isSegment, recoverSegment, type Segment, segmentAt } from './log-segment.ts'

const SEGMENT_BYTES = 16 << 20
/** A write is done when it would survive a loss of power: one call to the disk for each group of messages, not two. */
const DURABLY = constants.O_RDWR | constants.O_DSYNC

export interface OutputLogOptions {
  folder: string
  /** Space of all segments together; when it is used up the oldest segment goes. */
  bytes: number
  segmentBytes?: number
  /** Called when the messages up to a number have been removed to make room. */
  onRemoved?(upTo: number): void
  log: Log
}

/** The durable messages, in files of fixed size. One writer; any number of readers, each at its own place. */
export interface OutputLog {
  /** Finds the end of the log and cuts what a crash has left torn there. */
  open(): Promise<void>
  /** Resolves once the records would survive a loss of power; what is appended already is left out. */
  append(records: LogRecord[]): Promise<void>
  /** The greatest number that has been removed; 0 as long as everything is there. */
  floor(): number
  /** The greatest number that has been appended; 0 if none. */
  last(): number
  /** Which share of the log's space is taken by segments with numbers greater than `after`, 0..1. */
  held(after: number): number
  /** Reads the records whose numbers are greater than `after`. */
  reader(after: number): LogReader
  close(): Promise<void>
}

export function createOutputLog({
  folder,
  bytes,
  segmentBytes = SEGMENT_BYTES,
  onRemoved,
  log,
}: OutputLogOptions): OutputLog {
  const most = Math.max(2, Math.floor(bytes / segmentBytes))
  const segments: Segment[] = []
  let file: FileHandle | undefined
  let end = 0
  let last = 0

  const removeOldest = async () => {
    await rm(segments[0]!.path, { force: true })
    segments.shift()
    onRemoved?.((segments[0]?.first ?? last + 1) - 1)
  }

  const begin = async (leastBytes: number) => {
    const first = last + 1
    const bytes = Math.max(segmentBytes, leastBytes)
    while (segments.length >= most) await removeOldest()
    const segment = await createSegment(folder, first, bytes).catch(async error => {
      if (error.code !== 'ENOSPC' || segments.length < 2) throw error
      await removeOldest()
      return createSegment(folder, first, bytes)
    })
    await file?.close()
    file = await open(segment.path, DURABLY)
    segments.push(segment)
    end = 0
  }

  const write = async (records: LogRecord[], bytes: Buffer[]) => {
    if (records.length === 0) return
    const whole = Buffer.concat(bytes)
    await writeAll(file!, whole, end)
    end += whole.length
    last = records.at(-1)!.seq
  }

  return {
    open: async () => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const names = await readdir(folder)
      for (const name of names.filter(isDraft)) await rm(join(folder, name))
      segments.push(
        ...names
          .filter(isSegment)
          .sort()
          .map(name => segmentAt(join(folder, name))),
      )
      const newest = segments.at(-1)
      if (!newest) return
      const recovered = await recoverSegment(newest)
      if (recovered.torn)
        log.warn({ file: newest.path }, 'a crash left a torn record, which was never sent: removed')
      end = recovered.end
      last = recovered.last ?? newest.first - 1
      file = await open(newest.path, DURABLY)
    },
    append: async given => {
      const records = given.filter(({ seq }) => seq > last)
      let from = 0
      let size = 0
      const bytes = records.map(encodeRecord)
      for (const [index, { length }] of bytes.entries()) {
        if (!file || end + size + length > segmentBytes) {
          await write(records.slice(from, index), bytes.slice(from, index))
          await begin(length)
          from = index
          size = 0
        }
        size += length
      }
      await write(records.slice(from), bytes.slice(from))
    },
    floor: () => (segments[0]?.first ?? 1) - 1,
    last: () => last,
    held: after => {
      const isHeld = (_: Segment, index: number) => (segments[index + 1]?.first ?? last + 1) > after + 1
      return Math.min(1, segments.filter(isHeld).length / most)
    },
    reader: after => createLogReader({ segments, end: () => end, last: () => last }, after),
    close: async () => {
      await file?.close()
      file = undefined
    },
  }
}
