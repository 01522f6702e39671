import { open } from 'node:fs/promises'
import type { FileSlice } from '../format/clip.ts'

const READ_BYTES = 1 << 20

/** Reads a range of the content that consists of `head` and then `slices` of files. */
export async function* readSlices(
  { head, slices }: { head: Uint8Array; slices: readonly FileSlice[] },
  start: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  if (start < head.length) yield head.subarray(start, end)
  let position = head.length
  for (const { path, offset, length } of slices) {
    const sliceStart = Math.max(start - position, 0)
    const sliceEnd = Math.min(end - position, length)
    if (sliceStart < sliceEnd) yield* readFileRange(path, offset + sliceStart, offset + sliceEnd)
    position += length
    if (position >= end) return
  }
}

async function* readFileRange(path: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  const file = await open(path)
  try {
    for (let offset = start; offset < end; ) {
      const bytes = Buffer.alloc(Math.min(READ_BYTES, end - offset))
      const { bytesRead } = await file.read(bytes, 0, bytes.length, offset)
      if (bytesRead === 0) throw new Error(`${path} has become shorter while it was read`)
      yield bytes.subarray(0, bytesRead)
      offset += bytesRead
    }
  } finally {
    await file.close()
  }
}
