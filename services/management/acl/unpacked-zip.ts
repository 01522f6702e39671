import { crc32, inflateRawSync } from 'node:zlib'
import { fieldError } from '../errors/field-errors.ts'

/** Signatures and sizes of a zip file's parts (PKWARE, APPNOTE 4.3). */
const LOCAL = { signature: 0x04034b50, bytes: 30 }
const CENTRAL = { signature: 0x02014b50, bytes: 46 }
const END = { signature: 0x06054b50, bytes: 22 }
const STORED = 0
const DEFLATED = 8
const MOST_COMMENT_BYTES = 0xffff
const MOST_ENTRIES = 1000

interface Entry {
  name: Buffer
  content: Buffer
}

/**
 * The same zip file with nothing compressed, so that who reads it is told no lies about sizes. Throws EyrieError
 * `syntax` where it is no zip file, or holds more than `mostBytes`: of a bomb no more than that is ever unpacked.
 */
export function unpackedZip(zip: Buffer, mostBytes: number): Buffer {
  let left = mostBytes
  try {
    return pack(
      entriesOf(zip).map(({ name, packed, method }) => {
        const content = method === STORED ? packed : inflateRawSync(packed, { maxOutputLength: left + 1 })
        left -= content.length
        if (left < 0) throw new RangeError(`it holds more than ${mostBytes} bytes`)
        return { name, content }
      }),
    )
  } catch (cause) {
    throw fieldError('modulefile', `it cannot be unpacked as .xlsx: ${(cause as Error).message}`, { cause })
  }
}

function entriesOf(zip: Buffer) {
  const end = zip.lastIndexOf(signature(END.signature))
  if (end < 0 || end < zip.length - END.bytes - MOST_COMMENT_BYTES) throw new Error('it is cut short')
  const count = zip.readUInt16LE(end + 10)
  if (count > MOST_ENTRIES) throw new Error(`it has more than ${MOST_ENTRIES} parts`)
  const entries = []
  let at = zip.readUInt32LE(end + 16)
  for (let n = 0; n < count; n += 1) {
    if (zip.readUInt32LE(at) !== CENTRAL.signature) throw new Error('its directory is damaged')
    const method = zip.readUInt16LE(at + 10)
    if (method !== STORED && method !== DEFLATED) throw new Error(`it is compressed by method ${method}`)
    const nameBytes = zip.readUInt16LE(at + 28)
    const name = zip.subarray(at + CENTRAL.bytes, at + CENTRAL.bytes + nameBytes)
    entries.push({
      name,
      method,
      packed: packedAt(zip, zip.readUInt32LE(at + 42), zip.readUInt32LE(at + 20)),
    })
    at += CENTRAL.bytes + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  return entries
}

function packedAt(zip: Buffer, at: number, bytes: number): Buffer {
  if (zip.readUInt32LE(at) !== LOCAL.signature) throw new Error('its directory is damaged')
  const start = at + LOCAL.bytes + zip.readUInt16LE(at + 26) + zip.readUInt16LE(at + 28)
  return zip.subarray(start, start + bytes)
}

function pack(entries: Entry[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content } of entries) {
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt32LE(crc32(content), 10)
    facts.writeUInt32LE(content.length, 14)
    facts.writeUInt32LE(content.length, 18)
    facts.writeUInt16LE(name.length, 22)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(offset, 10)
    parts.push(signature(LOCAL.signature), facts, name, content)
    directory.push(signature(CENTRAL.signature), facts.subarray(0, 2), facts, place, name)
    offset += LOCAL.bytes + name.length + content.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(END.bytes)
  end.writeUInt32LE(END.signature, 0)
  end.writeUInt16LE(entries.length, 8)
  end.writeUInt16LE(entries.length, 10)
  end.writeUInt32LE(central.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, central, end])
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
