import { open } from 'node:fs/promises'
import type { FileSlice } from '../format/clip.ts'

/** Size of the parts in which a file is read. */
const CHUNK_BYTES = 1 << 20

/**
 * Reads the bytes from `start` to `end` (exclusive) of content that is stored in several places:
 * `head` in memory, followed by slices of files. Throws if a file is shorter than its slice.
 */
export async function* readSlices(
  { head, slices }: { head: Uint8Array; slices: readonly FileSlice[] },
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  if (start < head.length) yield head.subarray(start, end)

  // Position of the next slice in the content.
  let position = head.length
  for (const { path, offset, length } of slices) {
    const sliceStart = Math.max(start - position, 0)
    const sliceEnd = Math.min(end - position, length)
    if (sliceStart < sliceEnd) yield* readFileRange(path, offset + sliceStart, offset + sliceEnd)
    position += length
    if (position >= end) return
  }
}

async function* readFileRange(
  path: string,
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  const file = await open(path)
  try {
    let offset = start
    while (offset < end) {
      const bytes = Buffer.alloc(Math.min(CHUNK_BYTES, end - offset))
      const { bytesRead } = await file.read(bytes, 0, bytes.length, offset)
      if (bytesRead === 0) throw new Error(`${path} has become shorter while it was read`)
      yield bytes.subarray(0, bytesRead)
      offset += bytesRead
    }
  } finally {
    await file.close()
  }
}
