import { existsSync } from 'node:fs'
import { mkdir, open, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PassThrough, Readable, Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { EyrieError } from '@eyrie/contract'
import { formatBytes } from '@eyrie/contract/format-bytes'
import { syntaxError } from '@eyrie/contract/parse'
import { type ExtractEvents, extract } from 'tar-stream'

/**
 * The limits for the package of a plugin, which protect the disk from an archive that expands
 * to an enormous size.
 */
export interface UnpackLimits {
  /** Maximum size of the uncompressed archive, including its headers. */
  bytes: number
  /** Maximum number of files and folders. */
  files: number
}

const MAX_NAME_BYTES = 200
const MAX_DEPTH = 16
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters would falsify listings of the folder
const FORBIDDEN_CHARACTERS = /[\u0000-\u001f\u007f\\]/

/**
 * Unpacks a gzipped tar archive into the empty folder `target`. Creates only regular files and
 * folders inside `target`. Returns the folder of the plugin: `target` itself, or its only
 * sub-folder (`package/` in archives of npm). Throws `EyrieError` (`syntax` or `size`). The caller
 * must delete the files that were unpacked before the error.
 */
export async function unpackPackage(
  archive: Uint8Array,
  target: string,
  limits: UnpackLimits,
): Promise<string> {
  const entries = extract()
  const unpacked = new PassThrough()
  const source = Readable.from([archive])
  pipeline(source, createGunzip(), createByteLimit(limits.bytes), unpacked).catch(error => {
    // Ends the loop over the entries with this error.
    entries.destroy(error)
  })
  // `extract` returns a stream that works like those of Node, but has other types.
  unpacked.pipe(entries as unknown as NodeJS.WritableStream)

  try {
    let entryCount = 0
    for await (const entry of entries) {
      const type = getEntryType(entry)
      entryCount++
      if (entryCount > limits.files) {
        throw new EyrieError(
          'size',
          `the package contains more than ${limits.files} files and folders`,
        )
      }
      await unpackEntry(entry, type, target)
    }
  } catch (error) {
    throw toUnpackError(error as NodeJS.ErrnoException)
  } finally {
    unpacked.destroy()
  }
  return findPluginFolder(target)
}

/** Creates a stream that passes its input on, and fails after `maxBytes`. */
function createByteLimit(maxBytes: number): Transform {
  let byteCount = 0
  return new Transform({
    transform(chunk: Buffer, _, done: TransformCallback) {
      byteCount += chunk.length
      if (byteCount > maxBytes) {
        done(new EyrieError('size', `the unpacked package is larger than ${formatBytes(maxBytes)}`))
      } else {
        done(null, chunk)
      }
    },
  })
}

/** A file or folder in an archive. */
type Entry = ExtractEvents['entry'][1]

/** Throws `EyrieError` (`syntax`) if an entry is neither a file nor a folder, such as a link. */
function getEntryType({ header: { name, type } }: Entry): 'file' | 'directory' {
  if (type === 'file' || type === 'directory') return type
  throw syntaxError('', `${quote(name)} is a ${type}: a package may contain only files and folders`)
}

async function unpackEntry(
  entry: Entry,
  type: 'file' | 'directory',
  target: string,
): Promise<void> {
  const path = join(target, normalizeName(entry.header.name))
  if (type === 'file') {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, entry)
  } else {
    await mkdir(path, { recursive: true })
    // An entry must be read before the next one arrives.
    entry.resume()
  }
}

/**
 * Converts the name of an entry to a relative path. Throws `EyrieError` (`syntax`) if the path is
 * absolute or leaves the package.
 */
function normalizeName(name: string): string {
  const withoutTrailingSlash = name.replace(/\/$/, '')
  const segments = withoutTrailingSlash.split('/').filter(segment => segment !== '.')
  const isValidSegment = (segment: string) =>
    segment !== '' && segment !== '..' && !FORBIDDEN_CHARACTERS.test(segment)
  if (!segments.every(isValidSegment)) {
    throw syntaxError('', `${quote(name)} is not a valid path inside the package`)
  }

  if (Buffer.byteLength(name) > MAX_NAME_BYTES || segments.length > MAX_DEPTH) {
    throw syntaxError('', `the path ${quote(name)} is too long or too deep`)
  }
  return segments.join('/')
}

const quote = (name: string) => JSON.stringify(name.slice(0, MAX_NAME_BYTES))

/**
 * Writes a file and flushes it to disk, so that it is complete when the folder is
 * renamed to its final path.
 */
async function writeFile(path: string, content: AsyncIterable<unknown>): Promise<void> {
  const file = await open(path, 'wx', 0o644)
  try {
    // The chunks of an archive's entry are buffers.
    await file.writeFile(content as AsyncIterable<Uint8Array>)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Returns the error for the client. A full disk is not the fault of the package. */
function toUnpackError(error: NodeJS.ErrnoException): Error {
  if (error instanceof EyrieError || error.code === 'ENOSPC') return error
  // The file system rejects a file or folder at a path that is in use.
  if (error.code === 'EEXIST' || error.code === 'ENOTDIR' || error.code === 'EISDIR') {
    return syntaxError('', 'the package contains two entries with the same name', { cause: error })
  }
  return syntaxError('', `the package is not a complete gzipped tar archive: ${error.message}`, {
    cause: error,
  })
}

async function findPluginFolder(folder: string): Promise<string> {
  if (existsSync(join(folder, 'plugin.json'))) return folder

  const [subFolder, ...otherNames] = await readdir(folder)
  const isOnlyEntry = subFolder !== undefined && otherNames.length === 0
  if (isOnlyEntry && existsSync(join(folder, subFolder, 'plugin.json'))) {
    return join(folder, subFolder)
  }

  throw syntaxError(
    '',
    'the package contains no plugin.json at the top level or in a single top-level folder',
  )
}
