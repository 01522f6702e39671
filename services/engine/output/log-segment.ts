import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { syncFolder, writeAll } from '@eyrie/kit/durable-file'
import { decodeRecords, type LogRecord, readRecordSize } from './log-record.ts'

/** Number of bytes in one read. It is exceeded only for a single larger record. */
const READ_BYTES = 256 << 10
/** Number of zeros in one write. */
const ZERO_CHUNK_BYTES = 1 << 20
/** Digits of the first sequence number in a name. Leading zeros let names sort by it. */
const NAME_DIGITS = 16
const SUFFIX = '.log'
const SEGMENT_NAME = /^\d{16}\.log$/
/** Added to the name of a segment until it is complete. */
const UNFINISHED_SUFFIX = '.new'

/**
 * A file of the output log, which holds the durable messages of the engine. Each message is a
 * record with a sequence number. The space of a segment is allocated when it is created: the file
 * never grows, so appending a record cannot fail on a full disk. Unused space contains zeros.
 */
export interface Segment {
  path: string
  /**
   * The lowest sequence number that a record in this segment may have. Earlier segments contain
   * only lower ones.
   */
  firstSeq: number
}

/** Parses the name of a file in the log folder. Returns undefined if it is not a segment. */
export function parseSegmentName(folder: string, name: string): Segment | undefined {
  if (!SEGMENT_NAME.test(name)) return undefined
  return { path: join(folder, name), firstSeq: Number(basename(name, SUFFIX)) }
}

/** Whether a file was left behind by a crash during `createSegment`. */
export function isUnfinishedSegment(name: string): boolean {
  return name.endsWith(SUFFIX + UNFINISHED_SUFFIX)
}

export interface SegmentOptions {
  folder: string
  firstSeq: number
  /** Size of the file in bytes. */
  size: number
}

/** Creates a segment filled with zeros. Either the complete file exists afterwards, or none. */
export async function createSegment({ folder, firstSeq, size }: SegmentOptions): Promise<Segment> {
  const path = join(folder, String(firstSeq).padStart(NAME_DIGITS, '0') + SUFFIX)
  const unfinishedPath = path + UNFINISHED_SUFFIX
  const file = await open(unfinishedPath, 'w', 0o600)
  try {
    await fillWithZeros(file, 0, size)
  } catch (error) {
    await rm(unfinishedPath, { force: true })
    throw error
  } finally {
    await file.close()
  }

  await rename(unfinishedPath, path)
  await syncFolder(folder)
  return { path, firstSeq }
}

export interface RecoveredSegment {
  /** Offset after the last intact record. */
  endOffset: number
  /** Sequence number of the last intact record; undefined if there is none. */
  lastSeq: number | undefined
  /** Whether an incomplete record was erased. */
  wasTorn: boolean
}

/**
 * Finds the end of the records after a restart. A crash may leave an incomplete record there, which
 * no client has received. This function overwrites it with zeros. Otherwise, later records could
 * overwrite only its beginning, and its remains could be read as a record.
 */
export async function recoverSegment({ path }: Segment): Promise<RecoveredSegment> {
  const content = await readFile(path)
  const { records, end } = decodeRecords(content)

  const wasTorn = content.subarray(end).some(byte => byte !== 0)
  if (wasTorn) {
    const file = await open(path, 'r+')
    try {
      await fillWithZeros(file, end, content.length)
    } finally {
      await file.close()
    }
  }
  return { endOffset: end, lastSeq: records.at(-1)?.seq, wasTorn }
}

export interface SegmentBatch {
  records: LogRecord[]
  /** Offset after the last of these records. */
  endOffset: number
  /** Whether the record at the requested offset is damaged. */
  isDamaged: boolean
}

export interface ReadRange {
  /** Where the first record starts, in bytes. */
  offset: number
  /** Where the records end, in bytes; the end of the file by default. */
  endOffset?: number | undefined
}

/**
 * Reads the first records of the range, at least one. Returns none if the range is empty or its
 * first record is damaged.
 */
export async function readSegment(
  { path }: Segment,
  { offset, endOffset = Number.POSITIVE_INFINITY }: ReadRange,
): Promise<SegmentBatch> {
  const file = await open(path, 'r')
  try {
    const readBytes = async (size: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, offset)
      return buffer.subarray(0, Math.min(bytesRead, endOffset - offset))
    }

    let buffer = await readBytes(READ_BYTES)
    // A size that exceeds the file is that of a damaged record.
    const firstSize = readRecordSize(buffer, 0)
    const { size: fileSize } = await file.stat()
    const isLargerThanBuffer = firstSize > buffer.length && offset + firstSize <= fileSize
    if (isLargerThanBuffer) buffer = await readBytes(firstSize)

    // A record that the buffer contains only in part is left to the next read.
    const { records, end } = decodeRecords(buffer)
    return { records, endOffset: offset + end, isDamaged: records.length === 0 && firstSize > 0 }
  } finally {
    await file.close()
  }
}

async function fillWithZeros(file: FileHandle, start: number, end: number): Promise<void> {
  const zeros = Buffer.alloc(ZERO_CHUNK_BYTES)
  for (let offset = start; offset < end; offset += zeros.length) {
    await writeAll(file, zeros.subarray(0, end - offset), offset)
  }
  await file.sync()
}
