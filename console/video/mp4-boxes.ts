/** A box of the ISO base media file format (ISO/IEC 14496-12). Offsets count from the beginning of the parent. */
export interface Mp4Box {
  type: string
  payload: DataView
  /** Offset of the next box. */
  end: number
}

const HEADER_BYTES = 8

/** Sample flag in `trun`: decoding cannot start at this sample. */
export const IS_NON_SYNC_SAMPLE = 0x10000

/** Yields the boxes in order and stops before the first that is incomplete or invalid. */
export function* readBoxes(parent: DataView): Generator<Mp4Box> {
  for (let start = 0; start + HEADER_BYTES <= parent.byteLength; ) {
    const size = parent.getUint32(start)
    const end = start + size
    if (size < HEADER_BYTES || end > parent.byteLength) return
    const type = String.fromCharCode(...[4, 5, 6, 7].map(offset => parent.getUint8(start + offset)))
    const payload = new DataView(parent.buffer, parent.byteOffset + start + HEADER_BYTES, size - HEADER_BYTES)
    yield { type, payload, end }
    start = end
  }
}

/** Returns the payload of the first box at this path. */
export function findBox(parent: DataView, path: string[]): DataView | undefined {
  const [type, ...rest] = path
  for (const box of readBoxes(parent)) {
    if (box.type === type) return rest.length === 0 ? box.payload : findBox(box.payload, rest)
  }
  return undefined
}
