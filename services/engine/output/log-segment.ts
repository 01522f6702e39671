import { type FileHandle, open, readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { syncFolder, writeAll } from '@eyrie/kit/durable-file'
import { decodeRecords, type LogRecord, sizeAt } from './log-record.ts'

const READ_BYTES = 256 << 10
const SUFFIX = '.log'

/** A file of the log. Its space is reserved when it is made, so that appending neither grows it nor fails on a full disk. */
export interface Segment {
  path: string
  /** No record in it has a smaller number, none in those before has this or a greater one. */
  first: number
}

export function segmentAt(path: string): Segment {
  return { path, first: Number(basename(path, SUFFIX)) }
}

export function isSegment(name: string): boolean {
  return /^\d{16}\.log$/.test(name)
}

/** What is left of a segment that was not finished. */
export function isDraft(name: string): boolean {
  return name.endsWith(`${SUFFIX}.new`)
}

/** Makes a segment filled with zeros; it appears whole or not at all. */
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
 * Where the next record goes and the last number before it. What a crash left torn behind that was never sent; it is
 * wiped, so that it cannot be taken for records later.
 */
export async function recoverSegment({
  path,
}: Segment): Promise<{ end: number; last: number | undefined; torn: boolean }> {
  const bytes = await readFile(path)
  const { records, end } = decodeRecords(bytes)
  const torn = bytes.subarray(end).some(byte => byte !== 0)
  if (torn) {
    const file = await open(path, 'r+')
    try {
      await fillWithZeros(file, end, bytes.length)
    } finally {
      await file.close()
    }
  }
  return { end, last: records.at(-1)?.seq, torn }
}

/** Some records from `offset` on and where the next ones begin; none at the segment's end, or where it is damaged. */
export async function readSegment(
  { path }: Segment,
  offset: number,
  limit = Number.POSITIVE_INFINITY,
): Promise<{ records: LogRecord[]; end: number; damaged: boolean }> {
  const file = await open(path, 'r')
  try {
    const read = async (length: number) => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset)
      return buffer.subarray(0, Math.min(bytesRead, limit - offset))
    }
    let bytes = await read(READ_BYTES)
    const { size } = await file.stat()
    const needed = sizeAt(bytes, 0)
    if (needed > bytes.length && offset + needed <= size) bytes = await read(needed)
    const { records, end } = decodeRecords(bytes)
    return { records, end: offset + end, damaged: records.length === 0 && needed > 0 }
  } finally {
    await file.close()
  }
}

async function fillWithZeros(file: FileHandle, from: number, to: number): Promise<void> {
  const zeros = Buffer.alloc(1 << 20)
  for (let at = from; at < to; at += zeros.length) await writeAll(file, zeros.subarray(0, to - at), at)
  await file.sync()
}
