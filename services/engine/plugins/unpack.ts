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
  /** Of everything in the archive, its own headers included. */
  bytes: number
  files: number
}

const MOST_NAME_BYTES = 200
const MOST_LEVELS = 16

/**
 * Unpacks a gzipped tar archive into an empty folder and returns the folder in it that holds the plugin: itself, or the
 * only one at its top (`package/`, as npm writes it). Only plain files and folders inside it are ever made. Throws
 * EyrieError `syntax` or `size`; what has been unpacked until then is left to the caller.
 */
export async function unpack(archive: Uint8Array, into: string, limits: UnpackLimits): Promise<string> {
  const entries = extract()
  const unpacked = new PassThrough()
  pipeline(Readable.from([archive]), createGunzip(), bounded(limits.bytes), unpacked).catch(error =>
    entries.destroy(error),
  )
  unpacked.pipe(entries as unknown as NodeJS.WritableStream)
  try {
    let files = 0
    for await (const entry of entries) {
      const { name, type } = entry.header
      if (type !== 'file' && type !== 'directory')
        throw syntaxError('', `${shown(name)} is a ${type}: a package holds files and folders alone`)
      if (++files > limits.files)
        throw new EyrieError('size', `the package holds more than ${limits.files} files and folders`)
      const path = join(into, checkedName(name))
      await mkdir(type === 'file' ? dirname(path) : path, { recursive: true })
      if (type === 'file') await writeFile(path, entry)
      else entry.resume()
    }
  } catch (error) {
    throw explained(error as NodeJS.ErrnoException)
  } finally {
    unpacked.destroy()
  }
  return homeIn(into)
}

/** Lets through so many bytes, which a small archive may swell to. */
const bounded = (most: number) => {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _, done: TransformCallback) {
      bytes += chunk.length
      if (bytes > most)
        done(new EyrieError('size', `the package holds more than ${most} bytes once unpacked`))
      else done(null, chunk)
    },
  })
}

/** The name as a path inside the package. Throws EyrieError `syntax` if it leads anywhere else. */
function checkedName(name: string): string {
  const parts = name
    .split('/')
    .filter((part, i, all) => part !== '.' && !(part === '' && i === all.length - 1))
  const isPlain = parts.every(part => part !== '' && part !== '..' && !unwritable.test(part))
  if (!isPlain) throw syntaxError('', `${shown(name)} is no name inside the package`)
  if (Buffer.byteLength(name) > MOST_NAME_BYTES || parts.length > MOST_LEVELS)
    throw syntaxError('', `${shown(name)} is too long or too deep a name`)
  return parts.join('/')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what would deceive who lists the folder
const unwritable = /[\u0000-\u001f\u007f\\]/

const shown = (name: string) => JSON.stringify(name.slice(0, MOST_NAME_BYTES))

/** Whole on disk before it is renamed to its place. */
async function writeFile(path: string, content: AsyncIterable<unknown>): Promise<void> {
  const file = await open(path, 'wx', 0o644)
  try {
    await file.writeFile(content as AsyncIterable<Uint8Array>)
    await file.sync()
  } finally {
    await file.close()
  }
}

function explained(error: NodeJS.ErrnoException): Error {
  if (error instanceof EyrieError) return error
  if (error.code === 'ENOSPC') return error
  if (error.code === 'EEXIST' || error.code === 'ENOTDIR' || error.code === 'EISDIR')
    return syntaxError('', 'the package holds two things of one name', { cause: error })
  return syntaxError('', `the package is no whole gzipped tar archive: ${error.message}`, { cause: error })
}

async function homeIn(folder: string): Promise<string> {
  if (existsSync(join(folder, 'plugin.json'))) return folder
  const [only, ...more] = await readdir(folder)
  if (only && more.length === 0 && existsSync(join(folder, only, 'plugin.json'))) return join(folder, only)
  throw syntaxError('', 'the package holds no plugin.json, at its top or in its only folder')
}
