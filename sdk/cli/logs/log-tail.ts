import { type FileHandle, open, stat } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'

/**
 * Reads a log while the appliance writes it. A log consists of several files. When the current file
 * is full, it is rotated: each file is renamed to the next name in the list of files, such as
 * `eyrie.log` to `eyrie.log.1`, the oldest one is deleted, and a new current file is started.
 *
 * A rotation can happen at any time. A name may therefore refer to another file from one moment to
 * the next, and files are recognized by their inodes.
 */

const CHUNK_BYTES = 64 * 1024

/** An open log. */
export interface LogTail {
  /**
   * Returns the complete lines that were written since the last call. The first call returns the
   * lines of the newest file.
   */
  read(): Promise<string[]>
  /** Returns the lines of the next older file at each call, or undefined if there are no more. */
  readOlder(): Promise<string[] | undefined>
  close(): Promise<void>
}

/**
 * Opens a log for reading. `files` are the paths of its files, from the current file to the oldest.
 * Returns undefined if there is no file. Rejects if the current file cannot be read.
 */
export async function openLogTail(
  files: readonly [current: string, ...rotated: string[]],
): Promise<LogTail | undefined> {
  const [newestFile, ...olderFiles] = await openAll(files)
  if (!newestFile) return undefined
  let reader = new LineReader(newestFile)
  return {
    async read() {
      const lines = await reader.readLines()
      for (;;) {
        const nextFile = await openNext(reader.file, files)
        if (!nextFile) return lines

        // Lines may have been appended between the read above and the rotation.
        lines.push(...(await reader.readLines()))
        await reader.file.close()

        reader = new LineReader(nextFile)
        lines.push(...(await reader.readLines()))
      }
    },
    async readOlder() {
      const file = olderFiles.shift()
      if (!file) return undefined
      const lines = await new LineReader(file).readLines()
      await file.close()
      return lines
    },
    async close() {
      await Promise.all([reader.file, ...olderFiles].map(file => file.close()))
    },
  }
}

/**
 * Opens the files that exist, from the newest to the oldest. If a rotation happens in the meantime,
 * a file that is open already may appear again under the next name: it is not added twice. No file
 * is missed, because files are only renamed towards the end of the list.
 */
async function openAll([current, ...rotated]: readonly [string, ...string[]]): Promise<
  FileHandle[]
> {
  const opened = new Map<number, FileHandle>()
  const add = async (file: FileHandle | undefined) => {
    if (!file) return
    const inode = (await file.stat()).ino
    if (opened.has(inode)) await file.close()
    else opened.set(inode, file)
  }
  await add(await openUnlessMissing(current))
  for (const path of rotated) await add(await openIfReadable(path))
  return [...opened.values()]
}

/** Reads the lines of one file. */
class LineReader {
  readonly file: FileHandle
  readonly #buffer = Buffer.alloc(CHUNK_BYTES)
  readonly #decoder = new StringDecoder()
  /** The last line, if it does not end with a line break yet. */
  #incompleteLine = ''

  constructor(file: FileHandle) {
    this.file = file
  }

  /** Returns the complete lines up to the end of the file, without those of earlier calls. */
  async readLines(): Promise<string[]> {
    const lines: string[] = []
    for (;;) {
      const { bytesRead } = await this.file.read(this.#buffer)
      if (bytesRead === 0) return lines
      const text = this.#incompleteLine + this.#decoder.write(this.#buffer.subarray(0, bytesRead))
      const parts = text.split('\n')
      this.#incompleteLine = parts.pop()!
      for (const line of parts) lines.push(line)
    }
  }
}

/**
 * Opens the file that was started after this one. Returns undefined if this file is the current
 * one, or if a rotation prevents the search: the next call finds the file.
 */
async function openNext(
  file: FileHandle,
  files: readonly string[],
): Promise<FileHandle | undefined> {
  const inode = (await file.stat()).ino
  const position = await findPosition(inode, files)
  if (position === 0) return undefined
  if (position === undefined) {
    // This file has already been deleted: continue with the oldest file.
    return openOldest(files)
  }

  const next = await openIfReadable(files[position - 1]!)
  const hasSamePosition = (await getInode(files[position]!)) === inode
  if (hasSamePosition) return next

  // A rotation has happened since the search, so `next` may be another file than the next one.
  await next?.close()
  return undefined
}

/**
 * Finds a file by its inode. Returns its position in `files`, or undefined if the file was deleted.
 * A rotation during the search cannot hide the file, because the search has the same direction as
 * the rotation.
 */
async function findPosition(inode: number, files: readonly string[]): Promise<number | undefined> {
  for (const [position, path] of files.entries()) {
    if ((await getInode(path)) === inode) return position
  }
  return undefined
}

async function openOldest(files: readonly string[]): Promise<FileHandle | undefined> {
  for (const path of files.toReversed()) {
    const file = await openIfReadable(path)
    if (file) return file
  }
  return undefined
}

/** Returns undefined if the file does not exist, or cannot be read. */
const openIfReadable = (path: string): Promise<FileHandle | undefined> =>
  open(path).catch(() => undefined)

/** Returns undefined if the file does not exist. Rejects if it cannot be read. */
function openUnlessMissing(path: string): Promise<FileHandle | undefined> {
  return open(path).catch(error => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

/** Returns undefined if the file does not exist. */
async function getInode(path: string): Promise<number | undefined> {
  const stats = await stat(path).catch(() => undefined)
  return stats?.ino
}
