import { existsSync } from 'node:fs'
import { mkdir, open, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PassThrough, Readable, Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { EyrieError } from '@eyrie/contract'
import { syntaxError } from '@eyrie/contract/parse'
import { extract } from 'tar-stream'

export interface UnpackLimits {
  /** Maximum size of the uncompressed archive, including the headers. */
  bytes: number
  /** Maximum number of files and folders. */
  files: number
}

const MAX_NAME_BYTES = 200
const MAX_DEPTH = 16

/**
 * Unpacks a gzipped tar archive into an empty folder. Creates only regular files and folders inside it. Returns the
 * folder that contains the plugin: `target` itself or the only folder in it (`package/` in archives of npm). Throws
 * `EyrieError` (`syntax` or `size`); the caller deletes files that were unpacked before the error.
 */
export async function unpackPackage(
  archive: Uint8Array,
  target: string,
  limits: UnpackLimits,
): Promise<string> {
  const entries = extract()
  const unpacked = new PassThrough()
  pipeline(Readable.from([archive]), createGunzip(), createByteLimit(limits.bytes), unpacked).catch(error =>
    entries.destroy(error),
  )
  unpacked.pipe(entries as unknown as NodeJS.WritableStream)
  try {
    let files = 0
    for await (const entry of entries) {
      const { name, type } = entry.header
      if (type !== 'file' && type !== 'directory')
        throw syntaxError('', `${quote(name)} is a ${type}: a package may contain only files and folders`)
      if (++files > limits.files)
        throw new EyrieError('size', `the package contains more than ${limits.files} files and folders`)
      const path = join(target, normalizeName(name))
      await mkdir(type === 'file' ? dirname(path) : path, { recursive: true })
      if (type === 'file') await writeFile(path, entry)
      else entry.resume()
    }
  } catch (error) {
    throw toUnpackError(error as NodeJS.ErrnoException)
  } finally {
    unpacked.destroy()
  }
  return findPluginFolder(target)
}

/** Protects against archives that expand to a multiple of their size. */
const createByteLimit = (maxBytes: number) => {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _, done: TransformCallback) {
      bytes += chunk.length
      if (bytes > maxBytes)
        done(new EyrieError('size', `the unpacked package is larger than ${maxBytes} bytes`))
      else done(null, chunk)
    },
  })
}

/** The name as a relative path. Throws `EyrieError` (`syntax`) if it is absolute or leaves the package. */
function normalizeName(name: string): string {
  const parts = name
    .split('/')
    .filter((part, index, all) => part !== '.' && !(part === '' && index === all.length - 1))
  const isValid = parts.every(part => part !== '' && part !== '..' && !forbiddenCharacters.test(part))
  if (!isValid) throw syntaxError('', `${quote(name)} is not a valid path inside the package`)
  if (Buffer.byteLength(name) > MAX_NAME_BYTES || parts.length > MAX_DEPTH)
    throw syntaxError('', `the path ${quote(name)} is too long or too deep`)
  return parts.join('/')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters would falsify listings of the folder
const forbiddenCharacters = /[\u0000-\u001f\u007f\\]/

const quote = (name: string) => JSON.stringify(name.slice(0, MAX_NAME_BYTES))

/** Flushes the file to disk, because the folder is renamed to its final place afterwards. */
async function writeFile(path: string, content: AsyncIterable<unknown>): Promise<void> {
  const file = await open(path, 'wx', 0o644)
  try {
    await file.writeFile(content as AsyncIterable<Uint8Array>)
    await file.sync()
  } finally {
    await file.close()
  }
}

function toUnpackError(error: NodeJS.ErrnoException): Error {
  if (error instanceof EyrieError) return error
  if (error.code === 'ENOSPC') return error
  if (error.code === 'EEXIST' || error.code === 'ENOTDIR' || error.code === 'EISDIR')
    return syntaxError('', 'the package contains two entries with the same name', { cause: error })
  return syntaxError('', `the package is not a complete gzipped tar archive: ${error.message}`, {
    cause: error,
  })
}

async function findPluginFolder(folder: string): Promise<string> {
  if (existsSync(join(folder, 'plugin.json'))) return folder
  const [only, ...others] = await readdir(folder)
  if (only && others.length === 0 && existsSync(join(folder, only, 'plugin.json'))) return join(folder, only)
  throw syntaxError(
    '',
    'the package contains no plugin.json at the top level or in a single top-level folder',
  )
}
