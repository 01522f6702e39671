import { crc32 } from 'node:zlib'

/** One durable message as it lies in the log: its number and its JSON text. */
export interface LogRecord {
  seq: number
  text: string
}

/** Length of the text, CRC-32 of number and text, number; little endian. A length of 0 ends a segment. */
const HEADER_BYTES = 16
const SEQ_OFFSET = 8

export function encodeRecord({ seq, text }: LogRecord): Buffer {
  const length = Buffer.byteLength(text)
  const record = Buffer.alloc(HEADER_BYTES + length)
  record.writeBigUInt64LE(BigInt(seq), SEQ_OFFSET)
  record.write(text, HEADER_BYTES)
  record.writeUInt32LE(length, 0)
  record.writeUInt32LE(crc32(record.subarray(SEQ_OFFSET)), 4)
  return record
}

/** The records from `offset` on, and where they stop: at the end, or at one that is not whole. */
export function decodeRecords(bytes: Buffer, offset = 0): { records: LogRecord[]; end: number } {
  const records: LogRecord[] = []
  let end = offset
  for (let size = sizeAt(bytes, end); size > 0 && end + size <= bytes.length; size = sizeAt(bytes, end)) {
    const record = bytes.subarray(end, end + size)
    if (crc32(record.subarray(SEQ_OFFSET)) !== record.readUInt32LE(4)) break
    const seq = Number(record.readBigUInt64LE(SEQ_OFFSET))
    if (seq <= (records.at(-1)?.seq ?? 0)) break
    records.push({ seq, text: record.toString('utf8', HEADER_BYTES) })
    end += size
  }
  return { records, end }
}

/** Bytes that the record at this place claims to have; 0 where there is none. */
export function sizeAt(bytes: Buffer, offset: number): number {
  if (offset + HEADER_BYTES > bytes.length) return 0
  const length = bytes.readUInt32LE(offset)
  return length > 0 ? HEADER_BYTES + length : 0
}
