import { type FileHandle, open, stat } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'

/** Reads a log while it is written, and follows it from one file to the next when the files are rotated. */
export interface LogTail {
  /** The complete lines written since the last call; the first call returns those of the current file. */
  read(): Promise<string[]>
  close(): Promise<void>
}

const CHUNK_BYTES = 1 << 16

/**
 * Opens the log for reading. `files` are ordered from the current file to the oldest; rotation renames each file to the
 * next name in the list. Rejects if the current file does not exist.
 */
export async function openLogTail(files: readonly [current: string, ...rotated: string[]]): Promise<LogTail> {
  const buffer = Buffer.alloc(CHUNK_BYTES)
  let file = await open(files[0])
  let decoder = new StringDecoder()
  let incompleteLine = ''

  async function readToEnd(): Promise<string[]> {
    const lines: string[] = []
    for (;;) {
      const { bytesRead } = await file.read(buffer)
      if (bytesRead === 0) return lines
      const [first = '', ...more] = decoder.write(buffer.subarray(0, bytesRead)).split('\n')
      const parts = [incompleteLine + first, ...more]
      incompleteLine = parts.pop()!
      for (const line of parts) lines.push(line)
    }
  }

  async function switchTo(next: FileHandle) {
    await file.close()
    file = next
    decoder = new StringDecoder()
    incompleteLine = ''
  }

  return {
    async read() {
      let lines = await readToEnd()
      for (let next = await openNext(file, files); next; next = await openNext(file, files)) {
        // Lines may have been appended between the last read and the rotation.
        lines = [...lines, ...(await readToEnd())]
        await switchTo(next)
        lines = [...lines, ...(await readToEnd())]
      }
      return lines
    },
    close: () => file.close(),
  }
}

/** Opens the file that was started after this one; undefined while this is the current file. */
async function openNext(file: FileHandle, files: readonly string[]): Promise<FileHandle | undefined> {
  const { ino } = await file.stat()
  const position = await findPosition(ino, files)
  if (position === 0) return undefined
  // This file was already deleted: continue with the oldest that exists.
  if (position === -1) return openOldest(files)
  const next = await openIfExists(files[position - 1]!)
  // The files may have been rotated again in between. Then the name does not belong to the next file: try again later.
  if (!next || (await getInode(files[position]!)) === ino) return next
  await next.close()
  return undefined
}

/**
 * Finds a file by its inode; -1 if it was deleted. Searches from the current file on, which is the direction in which
 * rotation moves files, so that a rotation during the search cannot hide it.
 */
async function findPosition(inode: number, files: readonly string[]): Promise<number> {
  for (const [position, path] of files.entries()) if ((await getInode(path)) === inode) return position
  return -1
}

async function openOldest(files: readonly string[]): Promise<FileHandle | undefined> {
  for (const path of files.toReversed()) {
    const file = await openIfExists(path)
    if (file) return file
  }
  return undefined
}

const openIfExists = (path: string) => open(path).catch(() => undefined)

const getInode = (path: string) =>
  stat(path).then(
    ({ ino }) => ino,
    () => undefined,
  )
