import { crc32 } from 'node:zlib'

/**
 * A durable message in the output log, the files in which the engine stores its messages for
 * clients to read later.
 */
export interface LogRecord {
  /** Sequence number: unique and ascending over all messages. */
  seq: number
  /** The message as JSON. */
  text: string
}

/**
 * A record on disk is a header followed by the text in UTF-8. The header is little endian: u32 size
 * of the text, u32 CRC-32 of everything after the checksum, u64 sequence number. A size of 0 marks
 * the end of a segment.
 */
const HEADER_BYTES = 16
const SIZE_OFFSET = 0
const CRC_OFFSET = 4
const SEQ_OFFSET = 8

export function encodeRecord({ seq, text }: LogRecord): Buffer {
  const textBytes = Buffer.byteLength(text)
  const record = Buffer.alloc(HEADER_BYTES + textBytes)
  record.writeBigUInt64LE(BigInt(seq), SEQ_OFFSET)
  record.write(text, HEADER_BYTES)
  record.writeUInt32LE(textBytes, SIZE_OFFSET)
  record.writeUInt32LE(crc32(record.subarray(SEQ_OFFSET)), CRC_OFFSET)
  return record
}

/**
 * Decodes records up to the first one that is incomplete, damaged or out of order. `end` is the
 * offset after the last decoded record.
 */
export function decodeRecords(buffer: Buffer): { records: LogRecord[]; end: number } {
  const records: LogRecord[] = []
  let end = 0
  let lastSeq = 0
  for (;;) {
    const size = readRecordSize(buffer, end)
    if (size === 0 || end + size > buffer.length) break

    const record = buffer.subarray(end, end + size)
    if (crc32(record.subarray(SEQ_OFFSET)) !== record.readUInt32LE(CRC_OFFSET)) break

    const seq = Number(record.readBigUInt64LE(SEQ_OFFSET))
    if (seq <= lastSeq) break

    records.push({ seq, text: record.toString('utf8', HEADER_BYTES) })
    lastSeq = seq
    end += size
  }
  return { records, end }
}

/**
 * Returns the size in bytes of the record at `offset` according to its header; 0 if no
 * record starts there.
 */
export function readRecordSize(buffer: Buffer, offset: number): number {
  if (offset + HEADER_BYTES > buffer.length) return 0
  const textBytes = buffer.readUInt32LE(offset + SIZE_OFFSET)
  return textBytes > 0 ? HEADER_BYTES + textBytes : 0
}
