import { type FileHandle, open, stat } from 'node:fs/promises'
import { StringDecoder } from 'node:string_decoder'

/** A log as it is written, from one file to the one that takes its place. */
export interface LogTail {
  /** The whole lines that have been written since this was last asked; the first time, those of the newest file. */
  read(): Promise<string[]>
  close(): Promise<void>
}

const CHUNK_BYTES = 1 << 16

/** `files` from the newest to the oldest: a file that is full goes one place on. Throws where the newest is not there. */
export async function openLogTail(files: readonly [newest: string, ...older: string[]]): Promise<LogTail> {
  const buffer = Buffer.alloc(CHUNK_BYTES)
  let file = await open(files[0])
  let decoder = new StringDecoder()
  let torn = ''

  async function rest(): Promise<string[]> {
    const lines: string[] = []
    for (;;) {
      const { bytesRead } = await file.read(buffer)
      if (bytesRead === 0) return lines
      const [first = '', ...more] = decoder.write(buffer.subarray(0, bytesRead)).split('\n')
      const parts = [torn + first, ...more]
      torn = parts.pop()!
      for (const line of parts) lines.push(line)
    }
  }

  async function goOnTo(next: FileHandle) {
    await file.close()
    file = next
    decoder = new StringDecoder()
    torn = ''
  }

  return {
    async read() {
      let lines = await rest()
      for (let next = await successor(file, files); next; next = await successor(file, files)) {
        // What came after the last look, and before the file was full.
        lines = [...lines, ...(await rest())]
        await goOnTo(next)
        lines = [...lines, ...(await rest())]
      }
      return lines
    },
    close: () => file.close(),
  }
}

/** The file that was begun when this one was full; undefined while it is the newest. */
async function successor(file: FileHandle, files: readonly string[]): Promise<FileHandle | undefined> {
  const { ino } = await file.stat()
  const place = await placeOf(ino, files)
  if (place === 0) return undefined
  // One that is no longer kept is followed by the oldest that is.
  if (place === -1) return openOldest(files)
  const next = await opened(files[place - 1]!)
  // All files may have gone on by one while this one was opened: the next look tells.
  if (!next || (await inodeOf(files[place]!)) === ino) return next
  await next.close()
  return undefined
}

/** Looked for from the newest on, the way files go, so that one on its way is met. -1: it is no longer there. */
async function placeOf(inode: number, files: readonly string[]): Promise<number> {
  for (const [place, path] of files.entries()) if ((await inodeOf(path)) === inode) return place
  return -1
}

async function openOldest(files: readonly string[]): Promise<FileHandle | undefined> {
  for (const path of files.toReversed()) {
    const found = await opened(path)
    if (found) return found
  }
  return undefined
}

const opened = (path: string) => open(path).catch(() => undefined)

const inodeOf = (path: string) =>
  stat(path).then(
    ({ ino }) => ino,
    () => undefined,
  )
