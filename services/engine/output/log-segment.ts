import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { syncFolder, writeAll } from '@eyrie/kit/durable-file'
import { decodeRecords, type LogRecord, readRecordSize } from './log-record.ts'

const READ_BYTES = 256 << 10
const SUFFIX = '.log'

/** A file of the log. Its space is allocated on creation, so that appending neither grows it nor fails on a full disk. */
export interface Segment {
  path: string
  /** All records of the segment have this or a greater number; all earlier segments have smaller ones. */
  first: number
}

export function toSegment(path: string): Segment {
  return { path, first: Number(basename(path, SUFFIX)) }
}

export function isSegment(name: string): boolean {
  return /^\d{16}\.log$/.test(name)
}

/** Whether a file is left over from a crash during the creation of a segment. */
export function isUnfinishedSegment(name: string): boolean {
  return name.endsWith(`${SUFFIX}.new`)
}

/** Creates a segment atomically, filled with zeros. */
export async function createSegment(folder: string, first: number, bytes: number): Promise<Segment> {
  const path = join(folder, String(first).padStart(16, '0') + SUFFIX)
  const file = await open(`${path}.new`, 'w', 0o600)
  try {
    await fillWithZeros(file, 0, bytes)
  } catch (error) {
    await rm(`${path}.new`, { force: true })
    throw error
  } finally {
    await file.close()
  }
  await rename(`${path}.new`, path)
  await syncFolder(folder)
  return { path, first }
}

/**
 * Finds the end of the records and the last number. A torn record after them, left by a crash, was never sent to a client.
 * It is overwritten with zeros so that it cannot be mistaken for a record later.
 */
export async function recoverSegment({
  path,
}: Segment): Promise<{ end: number; last: number | undefined; isTorn: boolean }> {
  const bytes = await readFile(path)
  const { records, end } = decodeRecords(bytes)
  const isTorn = bytes.subarray(end).some(byte => byte !== 0)
  if (isTorn) {
    const file = await open(path, 'r+')
    try {
      await fillWithZeros(file, end, bytes.length)
    } finally {
      await file.close()
    }
  }
  return { end, last: records.at(-1)?.seq, isTorn }
}

/** Reads some records from `offset` on; `end` is the offset of the next one. Returns none at the end or at a damaged record. */
export async function readSegment(
  { path }: Segment,
  offset: number,
  limit = Number.POSITIVE_INFINITY,
): Promise<{ records: LogRecord[]; end: number; isDamaged: boolean }> {
  const file = await open(path, 'r')
  try {
    const read = async (length: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset)
      return buffer.subarray(0, Math.min(bytesRead, limit - offset))
    }
    let bytes = await read(READ_BYTES)
    const { size } = await file.stat()
    const firstSize = readRecordSize(bytes, 0)
    if (firstSize > bytes.length && offset + firstSize <= size) bytes = await read(firstSize)
    const { records, end } = decodeRecords(bytes)
    return { records, end: offset + end, isDamaged: records.length === 0 && firstSize > 0 }
  } finally {
    await file.close()
  }
}

async function fillWithZeros(file: FileHandle, start: number, end: number): Promise<void> {
  const zeros = Buffer.alloc(1 << 20)
  for (let offset = start; offset < end; offset += zeros.length)
    await writeAll(file, zeros.subarray(0, end - offset), offset)
  await file.sync()
}
