import { box, fullBox, i32, u16, u32, u64 } from '@eyrie/kit/mp4-boxes'
import type { Sample } from './fragment-samples.ts'

/** Contiguous samples of a track, from `offset` on. */
export interface Chunk {
  offset: number
  samples: readonly Sample[]
}

/** The presented part of the media, in ticks before the edit list applies. */
export interface PresentationRange {
  begin: number
  end: number
}

/** Creates the `trak` of an unfragmented file from that of a fragmented one, whose sample descriptions are copied. */
export function createClipTrack(trak: Buffer, chunks: readonly Chunk[], range: PresentationRange): Buffer {
  const samples = chunks.flatMap(chunk => chunk.samples)
  const first = samples[0]!
  const last = samples.at(-1)!
  const mediaInfo = readChildren(findBox(trak, ['mdia', 'minf']))
  return box(
    'trak',
    withUint32(findBox(trak, ['tkhd']), 28, range.end - range.begin),
    box('edts', createEditList(first.dts, range)),
    box(
      'mdia',
      withUint32(findBox(trak, ['mdia', 'mdhd']), 24, last.dts + last.duration - first.dts),
      findBox(trak, ['mdia', 'hdlr']),
      box(
        'minf',
        ...mediaInfo.map(child => (getType(child) === 'stbl' ? createSampleTable(child, chunks) : child)),
      ),
    ),
  )
}

/** Creates an `elst` box, with an empty edit first if the track begins after the presented range. */
function createEditList(first: number, { begin, end }: PresentationRange): Buffer {
  const delay = Math.max(0, first - begin)
  const entries = [createEdit(end - begin - delay, u64(Math.max(0, begin - first)))]
  if (delay > 0) entries.unshift(createEdit(delay, EMPTY_EDIT))
  return fullBox('elst', 1, 0, u32(entries.length), ...entries)
}

/** Media time -1. */
const EMPTY_EDIT = Buffer.alloc(8, 0xff)

function createEdit(duration: number, mediaTime: Buffer): Buffer {
  return Buffer.concat([u64(duration), mediaTime, u16(1, 0)])
}

function createSampleTable(stbl: Buffer, chunks: readonly Chunk[]): Buffer {
  const samples = chunks.flatMap(chunk => chunk.samples)
  const durations = samples.map(({ dts, duration }, i) => (samples[i + 1]?.dts ?? dts + duration) - dts)
  const compositionOffsets = samples.map(({ dts, pts }) => pts - dts)
  const keyframes = samples.flatMap(({ keyframe }, i) => (keyframe ? [i + 1] : []))
  const hasOnlyKeyframes = keyframes.length === samples.length
  return box(
    'stbl',
    findBox(stbl, ['stsd']),
    fullBox('stts', 0, 0, ...encodeRuns(durations, (count, value) => u32(count, value))),
    fullBox(
      'ctts',
      1,
      0,
      ...encodeRuns(compositionOffsets, (count, value) => Buffer.concat([u32(count), i32(value)])),
    ),
    ...(hasOnlyKeyframes ? [] : [fullBox('stss', 0, 0, u32(keyframes.length, ...keyframes))]),
    fullBox('stsc', 0, 0, ...createChunkEntries(chunks)),
    fullBox('stsz', 0, 0, u32(0, samples.length, ...samples.map(({ size }) => size))),
    fullBox('co64', 0, 0, u32(chunks.length), ...chunks.map(({ offset }) => u64(offset))),
  )
}

/** Entries of the `stsc` box: one for each chunk whose number of samples differs from the previous one. */
function createChunkEntries(chunks: readonly Chunk[]): Buffer[] {
  let chunk = 1
  return encodeRuns(
    chunks.map(({ samples }) => samples.length),
    (count, samples) => {
      const entry = u32(chunk, samples, 1)
      chunk += count
      return entry
    },
  )
}

/** Run-length encodes values: the number of runs, then an entry for each. */
function encodeRuns(values: readonly number[], write: (count: number, value: number) => Buffer): Buffer[] {
  const runs: { count: number; value: number }[] = []
  for (const value of values) {
    const last = runs.at(-1)
    if (last?.value === value) last.count++
    else runs.push({ count: 1, value })
  }
  return [u32(runs.length), ...runs.map(({ count, value }) => write(count, value))]
}

export const getType = (box: Buffer) => box.toString('latin1', 4, 8)

/** Returns the boxes inside a box. */
export function readChildren(parent: Buffer): Buffer[] {
  const boxes: Buffer[] = []
  for (let offset = 8; offset + 8 <= parent.length; ) {
    const child = parent.subarray(offset, offset + parent.readUInt32BE(offset))
    boxes.push(child)
    offset += child.length
  }
  return boxes
}

/** Returns the first box at this path. */
export function findBox(parent: Buffer, path: readonly string[]): Buffer {
  const [type, ...rest] = path
  const child = readChildren(parent).find(box => getType(box) === type)
  if (!child) throw new Error(`the segment has no ${type} box`)
  return rest.length === 0 ? child : findBox(child, rest)
}

/** Returns a copy with one 32-bit field replaced. */
export function withUint32(bytes: Buffer, offset: number, value: number): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt32BE(value, offset)
  return copy
}
