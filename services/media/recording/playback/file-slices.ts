import { open } from 'node:fs/promises'
import type { FileSlice } from '../format/clip.ts'

const READ_BYTES = 1 << 20

/** A part of what begins with `head` and goes on with pieces of files. */
export async function* readSlices(
  { head, slices }: { head: Uint8Array; slices: readonly FileSlice[] },
  from: number,
  to: number,
): AsyncGenerator<Uint8Array> {
  if (from < head.length) yield head.subarray(from, to)
  let begin = head.length
  for (const { path, offset, length } of slices) {
    const [first, last] = [Math.max(from - begin, 0), Math.min(to - begin, length)]
    if (first < last) yield* readFile(path, offset + first, offset + last)
    begin += length
    if (begin >= to) return
  }
}

async function* readFile(path: string, from: number, to: number): AsyncGenerator<Uint8Array> {
  const file = await open(path)
  try {
    for (let at = from; at < to; ) {
      const bytes = Buffer.alloc(Math.min(READ_BYTES, to - at))
      const { bytesRead } = await file.read(bytes, 0, bytes.length, at)
      if (bytesRead === 0) throw new Error(`${path} is shorter than it was`)
      yield bytes.subarray(0, bytesRead)
      at += bytesRead
    }
  } finally {
    await file.close()
  }
}
