import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'

/** The number of the track with the sound, where there is one. */
export const SOUND_TRACK = 2

/** What a movie fragment says of its one access unit; times in ticks of the track (ISO/IEC 14496-12, 8.8). */
export interface Fragment {
  /** The number of its track. */
  track: number
  dts: number
  pts: number
  duration: number
  keyframe: boolean
}

const HEADER_BYTES = 8
const FIELD_BYTES = 4
const DATA_OFFSET = 0x1
const FIRST_SAMPLE_FLAGS = 0x4
const SAMPLE_DURATION = 0x100
const SAMPLE_SIZE = 0x200
const SAMPLE_FLAGS = 0x400
const SAMPLE_COMPOSITION_OFFSET = 0x800
const IS_NON_SYNC_SAMPLE = 0x10000

/** Says of a fragment's samples that each lasts at least so many seconds. Changes the segment. */
export function prolong(segment: ArrayBuffer, seconds: number): void {
  const trun = find(new DataView(segment), ['moof', 'traf', 'trun'])
  if (!trun) return
  const { present, first, bytes } = layoutOf(trun)
  if ((present & SAMPLE_DURATION) === 0) return
  for (let at = first; at < trun.byteLength; at += bytes)
    trun.setUint32(at, Math.max(trun.getUint32(at), seconds * TICKS_PER_SECOND))
}

/** Undefined where the segment holds no fragment: it is an initialisation segment. */
export function readFragment(segment: ArrayBuffer): Fragment | undefined {
  const view = new DataView(segment)
  const traf = find(view, ['moof', 'traf'])
  const tfhd = traf && find(traf, ['tfhd'])
  const tfdt = traf && find(traf, ['tfdt'])
  const trun = traf && find(traf, ['trun'])
  if (!tfhd || !tfdt || !trun) return undefined
  const dts = tfdt.getUint8(0) === 1 ? Number(tfdt.getBigUint64(4)) : tfdt.getUint32(4)
  const { duration, flags, compositionOffset } = readFirstSample(trun)
  return {
    track: tfhd.getUint32(4),
    dts,
    pts: dts + compositionOffset,
    duration,
    keyframe: (flags & IS_NON_SYNC_SAMPLE) === 0,
  }
}

function readFirstSample(trun: DataView) {
  const { present, first } = layoutOf(trun)
  let at = first
  const next = (field: number) => {
    if ((present & field) === 0) return 0
    at += FIELD_BYTES
    return trun.getInt32(at - FIELD_BYTES)
  }
  const duration = next(SAMPLE_DURATION)
  next(SAMPLE_SIZE)
  const flags = next(SAMPLE_FLAGS)
  return { duration, flags, compositionOffset: next(SAMPLE_COMPOSITION_OFFSET) }
}

/** Which fields samples have, where the first sample begins, and how many bytes each has. */
function layoutOf(trun: DataView) {
  const present = trun.getUint32(0) & 0xffffff
  const count = (fields: number[]) => fields.filter(field => present & field).length
  const sampleFields = [SAMPLE_DURATION, SAMPLE_SIZE, SAMPLE_FLAGS, SAMPLE_COMPOSITION_OFFSET]
  return {
    present,
    first: HEADER_BYTES + FIELD_BYTES * count([DATA_OFFSET, FIRST_SAMPLE_FLAGS]),
    bytes: FIELD_BYTES * count(sampleFields),
  }
}

/** The payload of the first box at this path. */
function find(boxes: DataView, path: string[]): DataView | undefined {
  const [wanted, ...rest] = path
  for (let at = 0; at + HEADER_BYTES <= boxes.byteLength; ) {
    const size = boxes.getUint32(at)
    if (size < HEADER_BYTES || at + size > boxes.byteLength) return undefined
    if (boxType(boxes, at) === wanted) {
      const payload = new DataView(boxes.buffer, boxes.byteOffset + at + HEADER_BYTES, size - HEADER_BYTES)
      return rest.length === 0 ? payload : find(payload, rest)
    }
    at += size
  }
  return undefined
}

const boxType = (view: DataView, at: number) =>
  String.fromCharCode(...[4, 5, 6, 7].map(byte => view.getUint8(at + byte)))
