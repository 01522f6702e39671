import { crc32 } from 'node:zlib'

/** A durable message in the log: its number and its JSON text. */
export interface LogRecord {
  seq: number
  text: string
}

/**
 * The header of a record, little endian: u32 length of the text, u32 CRC-32 of number and text, u64 number. A length of 0
 * marks the end of a segment.
 */
const HEADER_BYTES = 16
const LENGTH_OFFSET = 0
const CRC_OFFSET = 4
const SEQ_OFFSET = 8

export function encodeRecord({ seq, text }: LogRecord): Buffer {
  const length = Buffer.byteLength(text)
  const record = Buffer.alloc(HEADER_BYTES + length)
  record.writeBigUInt64LE(BigInt(seq), SEQ_OFFSET)
  record.write(text, HEADER_BYTES)
  record.writeUInt32LE(length, LENGTH_OFFSET)
  record.writeUInt32LE(crc32(record.subarray(SEQ_OFFSET)), CRC_OFFSET)
  return record
}

/** Decodes records from `offset` up to the end or the first invalid one. `end` is the offset after the last record. */
export function decodeRecords(bytes: Buffer, offset = 0): { records: LogRecord[]; end: number } {
  const records: LogRecord[] = []
  let end = offset
  for (;;) {
    const size = readRecordSize(bytes, end)
    if (size === 0 || end + size > bytes.length) break
    const record = bytes.subarray(end, end + size)
    if (crc32(record.subarray(SEQ_OFFSET)) !== record.readUInt32LE(CRC_OFFSET)) break
    const seq = Number(record.readBigUInt64LE(SEQ_OFFSET))
    if (seq <= (records.at(-1)?.seq ?? 0)) break
    records.push({ seq, text: record.toString('utf8', HEADER_BYTES) })
    end += size
  }
  return { records, end }
}

/** The size in bytes that the record at `offset` declares; 0 if there is none. */
export function readRecordSize(bytes: Buffer, offset: number): number {
  if (offset + HEADER_BYTES > bytes.length) return 0
  const length = bytes.readUInt32LE(offset + LENGTH_OFFSET)
  return length > 0 ? HEADER_BYTES + length : 0
}
