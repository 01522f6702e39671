import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { formatBytes } from '@eyrie/contract/format-bytes'
import { fromBufferPromise } from 'yauzl'

// Section numbers refer to the specification of the zip format, PKWARE APPNOTE.

const MAX_ENTRIES = 1000

const LOCAL_HEADER_SIGNATURE = 0x04034b50
const CENTRAL_HEADER_SIGNATURE = 0x02014b50
const END_SIGNATURE = 0x06054b50
/** The feature version of plain files: 2.0 (section 4.4.3). */
const ZIP_VERSION = 20
/** The compression method of uncompressed entries (section 4.4.5). */
const METHOD_STORED = 0

interface ZipEntry {
  name: Buffer
  content: Buffer
}

/**
 * Converts a zip file to a zip file with the same entries, all uncompressed. Decompresses at most
 * `maxBytes` in total, so that a parser without limits of its own can read the result even if the
 * file comes from an untrusted client. Throws an `Error` if the file is not a zip file, or has more
 * than `maxBytes` of content or more than 1000 entries.
 */
export async function uncompressZip(zip: Buffer, maxBytes: number): Promise<Buffer> {
  return packUncompressed(await readEntries(zip, maxBytes))
}

async function readEntries(zip: Buffer, maxBytes: number): Promise<ZipEntry[]> {
  const file = await fromBufferPromise(zip)
  if (file.entryCount > MAX_ENTRIES) throw new Error(`it has more than ${MAX_ENTRIES} entries`)
  const entries: ZipEntry[] = []
  let remainingBytes = maxBytes
  for await (const entry of file.eachEntry()) {
    remainingBytes -= entry.uncompressedSize
    if (remainingBytes < 0) throw new Error(`it contains more than ${formatBytes(maxBytes)}`)
    // The stream fails if the entry is larger than its declared size.
    const content = await buffer(await file.openReadStreamPromise(entry))
    entries.push({ name: Buffer.from(entry.fileName), content })
  }
  return entries
}

/**
 * Writes each entry with its local header, then the central directory, then the end
 * record (section 4.3.6).
 */
function packUncompressed(entries: ZipEntry[]): Buffer {
  const localParts: Buffer[] = []
  const centralParts: Buffer[] = []
  let offset = 0
  for (const { name, content } of entries) {
    const attributes = formatAttributes(name, content)
    const localHeader = Buffer.concat([toUInt32(LOCAL_HEADER_SIGNATURE), attributes, name])
    localParts.push(localHeader, content)
    centralParts.push(formatCentralHeader(name, attributes, offset))
    offset += localHeader.length + content.length
  }
  const directory = Buffer.concat(centralParts)
  return Buffer.concat([
    ...localParts,
    directory,
    formatEnd(entries.length, directory.length, offset),
  ])
}

/**
 * Returns the fields that a local header and a central header have in common (section 4.3.7),
 * without the signature.
 */
function formatAttributes(name: Buffer, content: Buffer): Buffer {
  return Buffer.concat([
    toUInt16(ZIP_VERSION),
    toUInt16(0), // Flags.
    toUInt16(METHOD_STORED),
    toUInt16(0), // Modification time.
    toUInt16(0), // Modification date.
    toUInt32(crc32(content)),
    toUInt32(content.length), // Compressed size.
    toUInt32(content.length), // Uncompressed size.
    toUInt16(name.length),
    toUInt16(0), // Length of the extra field.
  ])
}

/** Returns a header of the central directory (section 4.3.12). */
function formatCentralHeader(name: Buffer, attributes: Buffer, localHeaderOffset: number): Buffer {
  return Buffer.concat([
    toUInt32(CENTRAL_HEADER_SIGNATURE),
    toUInt16(ZIP_VERSION),
    attributes,
    toUInt16(0), // Length of the comment.
    toUInt16(0), // Disk number.
    toUInt16(0), // Internal attributes.
    toUInt32(0), // External attributes.
    toUInt32(localHeaderOffset),
    name,
  ])
}

/** Returns the end of central directory record (section 4.3.16). */
function formatEnd(entryCount: number, directorySize: number, directoryOffset: number): Buffer {
  return Buffer.concat([
    toUInt32(END_SIGNATURE),
    toUInt16(0), // Disk number.
    toUInt16(0), // Disk number of the directory.
    toUInt16(entryCount), // Number of entries on this disk.
    toUInt16(entryCount), // Number of entries in total.
    toUInt32(directorySize),
    toUInt32(directoryOffset),
    toUInt16(0), // Length of the comment.
  ])
}

function toUInt16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return bytes
}

function toUInt32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
