// Reads and copies the boxes of an MP4 file (ISO/IEC 14496-12). A box is its size in 32 bits, four
// letters of type, and its content.

const HEADER_BYTES = 8

/** Returns the four letters of a box's type. */
export const getType = (box: Buffer) => box.toString('latin1', 4, HEADER_BYTES)

/**
 * Returns the boxes inside a box. Throws if the size of a box is less than its header: boxes that
 * extend to the end of the file (size 0) or have a 64-bit size (size 1) do not occur in the headers
 * that this service writes.
 */
export function readChildren(parent: Buffer): Buffer[] {
  const boxes = readIntactChildren(parent)
  const end = boxes.reduce((offset, { length }) => offset + length, HEADER_BYTES)
  if (end + HEADER_BYTES <= parent.length) {
    const size = parent.readUInt32BE(end)
    throw new Error(
      `the segment is damaged: its ${getType(parent)} box contains a box of ${size} bytes`,
    )
  }
  return boxes
}

/** Returns the boxes inside a box, up to the first one whose size is less than its header. */
export function readIntactChildren(parent: Buffer): Buffer[] {
  const boxes: Buffer[] = []
  let offset = HEADER_BYTES
  while (offset + HEADER_BYTES <= parent.length) {
    const size = parent.readUInt32BE(offset)
    if (size < HEADER_BYTES) break
    boxes.push(parent.subarray(offset, offset + size))
    offset += size
  }
  return boxes
}

/** Returns the first box at this path below `parent`. Throws if there is none. */
export function findBox(parent: Buffer, path: readonly string[]): Buffer {
  const [type, ...innerPath] = path
  const child = readChildren(parent).find(box => getType(box) === type)
  if (!child) throw new Error(`the segment has no ${type} box`)
  return innerPath.length === 0 ? child : findBox(child, innerPath)
}

/** Returns a copy with one 32-bit field replaced. */
export function withUint32(bytes: Buffer, offset: number, value: number): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt32BE(value, offset)
  return copy
}
