import { type FileHandle, open, stat } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'

const CHUNK_BYTES = 64 * 1024

/** Reads a log while it is being written, across rotations of its files. */
export interface LogTail {
  /**
   * Returns the complete lines written since the last call. The first call returns the
   * lines of the newest file.
   */
  read(): Promise<string[]>
  /** Returns the lines of the next older file at each call, or undefined if there are no more. */
  readOlder(): Promise<string[] | undefined>
  close(): Promise<void>
}

/**
 * Opens the log for reading. `files` are ordered from the current file to the oldest; rotation
 * renames each file to the next name in the list. Returns undefined if there is no file. Rejects if
 * the current file cannot be read.
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

        // Lines may have been appended between the last read and the rotation.
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
 * Opens the files that exist, from the newest to the oldest. A rotation meanwhile leaves no current
 * file for a moment, and moves files ahead of the search: none is missed, and one that is met again
 * is recognized by its inode.
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
 * one. A rotation renames files, so a file is recognized by its inode.
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
  // If the files have been rotated again in the meantime, another file has the name: try
  // again in the next call.
  const isRotatedAgain = (await getInode(files[position]!)) !== inode
  if (!isRotatedAgain) return next
  await next?.close()
  return undefined
}

/**
 * Finds a file by its inode. Returns its position in `files`, or undefined if the file was deleted.
 * The search starts at the current file, so a rotation during the search moves the file ahead of
 * the search and cannot hide it.
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

const openIfReadable = (path: string) => open(path).catch(() => undefined)

/** Rejects if the file exists, but cannot be read. */
async function openUnlessMissing(path: string): Promise<FileHandle | undefined> {
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
