/**
 * A box of an MP4 file. The format, ISO base media (ISO/IEC 14496-12, section 4.2), is a tree of
 * boxes: each has a size, a type of four letters, and a payload, which may consist of boxes.
 */
export interface Mp4Box {
  type: string
  payload: DataView
  /** Offset of the next box in the parent. */
  end: number
}

/** The size and the type, with 4 bytes each. */
const HEADER_BYTES = 8
const TYPE_OFFSETS = [4, 5, 6, 7]

/** Sample flag in `trun`: the sample is not a keyframe. */
export const IS_NON_SYNC_SAMPLE = 0x10000

/** Yields the boxes in `parent`. Stops at the first box that is incomplete or invalid. */
export function* readBoxes(parent: DataView): Generator<Mp4Box> {
  let start = 0
  while (start + HEADER_BYTES <= parent.byteLength) {
    const size = parent.getUint32(start)
    const end = start + size
    if (size < HEADER_BYTES || end > parent.byteLength) return

    const type = String.fromCharCode(...TYPE_OFFSETS.map(offset => parent.getUint8(start + offset)))
    const payload = new DataView(
      parent.buffer,
      parent.byteOffset + start + HEADER_BYTES,
      size - HEADER_BYTES,
    )
    yield { type, payload, end }
    start = end
  }
}

/** Returns the payload of the first box at a path, such as `['moof', 'traf']`. */
export function findBox(parent: DataView, path: string[]): DataView | undefined {
  const [type, ...innerPath] = path
  for (const { type: boxType, payload } of readBoxes(parent)) {
    if (boxType !== type) continue
    return innerPath.length === 0 ? payload : findBox(payload, innerPath)
  }
  return undefined
}
