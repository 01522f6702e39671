import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { fromBufferPromise } from 'yauzl'
import { fieldError } from '../errors/field-errors.ts'

const MAX_ENTRIES = 1000

/** Signatures and header sizes of a zip file's parts (PKWARE, APPNOTE 4.3). */
const LOCAL = { signature: 0x04034b50, bytes: 30 }
const CENTRAL = { signature: 0x02014b50 }
const END = { signature: 0x06054b50, bytes: 22 }

interface ZipEntry {
  name: Buffer
  content: Buffer
}

/**
 * Returns the zip file with all entries uncompressed, so that the sizes in its headers can be trusted. Throws `EyrieError`
 * (`syntax`) if it is not a zip file or holds more than `maxBytes`; no more than that is ever decompressed.
 */
export async function uncompressZip(zip: Buffer, maxBytes: number): Promise<Buffer> {
  try {
    return packUncompressed(await readEntries(zip, maxBytes))
  } catch (cause) {
    throw fieldError('modulefile', `cannot be unpacked as .xlsx: ${(cause as Error).message}`, { cause })
  }
}

async function readEntries(zip: Buffer, maxBytes: number): Promise<ZipEntry[]> {
  const file = await fromBufferPromise(zip)
  if (file.entryCount > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} entries`)
  const entries: ZipEntry[] = []
  let remaining = maxBytes
  for await (const entry of file.eachEntry()) {
    remaining -= entry.uncompressedSize
    if (remaining < 0) throw new Error(`it holds more than ${maxBytes} bytes`)
    // The stream fails if the entry is larger than its declared size.
    const content = await buffer(await file.openReadStreamPromise(entry))
    entries.push({ name: Buffer.from(entry.fileName), content })
  }
  return entries
}

function packUncompressed(entries: ZipEntry[]): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, content } of entries) {
    const description = Buffer.alloc(26)
    description.writeUInt16LE(20, 0)
    description.writeUInt32LE(crc32(content), 10)
    description.writeUInt32LE(content.length, 14)
    description.writeUInt32LE(content.length, 18)
    description.writeUInt16LE(name.length, 22)
    const position = Buffer.alloc(14)
    position.writeUInt32LE(offset, 10)
    parts.push(toBytes(LOCAL.signature), description, name, content)
    directory.push(toBytes(CENTRAL.signature), description.subarray(0, 2), description, position, name)
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

function toBytes(signature: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(signature)
  return bytes
}
