import { type FileHandle, open, stat } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'

/** Reads a log while it is being written, across rotations of its files. */
export interface LogTail {
  /** Returns the complete lines written since the last call. The first call returns the lines of the current file. */
  read(): Promise<string[]>
  close(): Promise<void>
}

/**
 * Opens the log for reading. `files` are ordered from the current file to the oldest; rotation renames each file to the
 * next name in the list. Rejects if the current file does not exist.
 */
export async function openLogTail(files: readonly [current: string, ...rotated: string[]]): Promise<LogTail> {
  let reader = new LineReader(await open(files[0]))
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
    close: () => reader.file.close(),
  }
}

const CHUNK_BYTES = 64 * 1024

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
 * Opens the file that was started after this one. Returns undefined if this file is the current one. A rotation renames
 * files, so a file is recognised by its inode.
 */
async function openNext(file: FileHandle, files: readonly string[]): Promise<FileHandle | undefined> {
  const inode = (await file.stat()).ino
  const position = await findPosition(inode, files)
  if (position === 0) return undefined
  if (position === undefined) {
    // This file has already been deleted: continue with the oldest file.
    return openOldest(files)
  }

  const next = await openIfExists(files[position - 1]!)
  // If the files have been rotated again in the meantime, another file has the name: try again in the next call.
  const isRotatedAgain = (await getInode(files[position]!)) !== inode
  if (!isRotatedAgain) return next
  await next?.close()
  return undefined
}

/**
 * Finds a file by its inode. Returns its position in `files`, or undefined if the file was deleted. The search starts at
 * the current file, so a rotation during the search moves the file ahead of the search and cannot hide it.
 */
async function findPosition(inode: number, files: readonly string[]): Promise<number | undefined> {
  for (const [position, path] of files.entries()) {
    if ((await getInode(path)) === inode) return position
  }
  return undefined
}

async function openOldest(files: readonly string[]): Promise<FileHandle | undefined> {
  for (const path of files.toReversed()) {
    const file = await openIfExists(path)
    if (file) return file
  }
  return undefined
}

const openIfExists = (path: string) => open(path).catch(() => undefined)

/** Returns undefined if the file does not exist. */
async function getInode(path: string): Promise<number | undefined> {
  const stats = await stat(path).catch(() => undefined)
  return stats?.ino
}
