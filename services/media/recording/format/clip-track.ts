import { box, fullBox, i32, u16, u32, u64 } from '@eyrie/kit/mp4-boxes'
import type { Sample } from './fragment-samples.ts'

/** Samples that lie one behind the other in the file, from `offset` on. */
export interface Chunk {
  offset: number
  samples: readonly Sample[]
}

/** What is to be seen and heard, in ticks of the clip before its edit lists. */
export interface PresentationRange {
  begin: number
  end: number
}

/** One track of a file that is not fragmented, from the `trak` of the fragmented one: what it is stays. */
export function createClipTrack(trak: Buffer, chunks: readonly Chunk[], shown: PresentationRange): Buffer {
  const samples = chunks.flatMap(chunk => chunk.samples)
  const [first, last] = [samples[0]!, samples.at(-1)!]
  const kind = findBox(trak, ['mdia', 'minf'])
  return box(
    'trak',
    withUint32(findBox(trak, ['tkhd']), 28, shown.end - shown.begin),
    box('edts', editList(first.dts, shown)),
    box(
      'mdia',
      withUint32(findBox(trak, ['mdia', 'mdhd']), 24, last.dts + last.duration - first.dts),
      findBox(trak, ['mdia', 'hdlr']),
      box(
        'minf',
        ...readChildren(kind).map(child => (typeOf(child) === 'stbl' ? sampleTable(child, chunks) : child)),
      ),
    ),
  )
}

/** Where the track begins later than what is shown, nothing comes first. */
function editList(first: number, { begin, end }: PresentationRange): Buffer {
  const wait = Math.max(0, first - begin)
  const edits = [...(wait > 0 ? [[wait, -1]] : []), [end - begin - wait, Math.max(0, begin - first)]] as [
    length: number,
    from: number,
  ][]
  const entries = edits.map(([length, from]) =>
    Buffer.concat([u64(length), from < 0 ? Buffer.alloc(8, 0xff) : u64(from), u16(1, 0)]),
  )
  return fullBox('elst', 1, 0, u32(edits.length), ...entries)
}

function sampleTable(stbl: Buffer, chunks: readonly Chunk[]): Buffer {
  const samples = chunks.flatMap(chunk => chunk.samples)
  const lengths = samples.map(({ dts, duration }, i) => (samples[i + 1]?.dts ?? dts + duration) - dts)
  const shifts = samples.map(({ dts, pts }) => pts - dts)
  const keyframes = samples.flatMap(({ keyframe }, i) => (keyframe ? [i + 1] : []))
  const isEachKeyframe = keyframes.length === samples.length
  return box(
    'stbl',
    findBox(stbl, ['stsd']),
    fullBox('stts', 0, 0, ...runs(lengths, (count, value) => u32(count, value))),
    fullBox('ctts', 1, 0, ...runs(shifts, (count, value) => Buffer.concat([u32(count), i32(value)]))),
    ...(isEachKeyframe ? [] : [fullBox('stss', 0, 0, u32(keyframes.length, ...keyframes))]),
    fullBox('stsc', 0, 0, ...samplesOfChunks(chunks)),
    fullBox('stsz', 0, 0, u32(0, samples.length, ...samples.map(({ size }) => size))),
    fullBox('co64', 0, 0, u32(chunks.length), ...chunks.map(({ offset }) => u64(offset))),
  )
}

/** An entry for each chunk that has another number of samples than the one before. */
function samplesOfChunks(chunks: readonly Chunk[]): Buffer[] {
  let chunk = 1
  return runs(
    chunks.map(({ samples }) => samples.length),
    (count, samples) => {
      const entry = u32(chunk, samples, 1)
      chunk += count
      return entry
    },
  )
}

/** How many entries there are, and an entry for each run of equal values. */
function runs(values: readonly number[], write: (count: number, value: number) => Buffer): Buffer[] {
  const found: [count: number, value: number][] = []
  for (const value of values) {
    const last = found.at(-1)
    if (last?.[1] === value) last[0]++
    else found.push([1, value])
  }
  return [u32(found.length), ...found.map(([count, value]) => write(count, value))]
}

const typeOf = (whole: Buffer) => whole.toString('latin1', 4, 8)

/** The boxes in a box. */
export function readChildren(parent: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let at = 8; at + 8 <= parent.length; ) {
    const child = parent.subarray(at, at + parent.readUInt32BE(at))
    found.push(child)
    at += child.length
  }
  return found
}

/** The first box at this path. */
export function findBox(parent: Buffer, path: readonly string[]): Buffer {
  const [type, ...rest] = path
  const child = readChildren(parent).find(each => typeOf(each) === type)
  if (!child) throw new Error(`a segment has no ${type}`)
  return rest.length === 0 ? child : findBox(child, rest)
}

export function withUint32(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt32BE(value, at)
  return copy
}
