import { existsSync } from 'node:fs'
import { box, fullBox, i32, u16, u32, u64 } from '@eyrie/kit/boxes'
import { beginning, place, selected } from './placement.ts'
import { readSegment, type Sample } from './segment-format.ts'

/** Bytes of a file. */
export interface Piece {
  path: string
  offset: number
  length: number
}

/** A whole MP4 file: its head, and where the rest of it lies. */
export interface Clip {
  head: Uint8Array
  pieces: Piece[]
  bytes: number
}

interface ClipSample extends Sample {
  path: string
  timeUs: number
}

const MDAT_HEAD_BYTES = 16

/**
 * The pictures of `fromUs` up to `toUs` as an MP4 with its index in front. What has to be decoded for the first of them
 * is in it and hidden by an edit list, so that it shows exactly what was asked for. It ends where the picture's size
 * changes. Undefined where there is nothing.
 */
export function clipOf(files: readonly { path: string }[], fromUs: number, toUs: number): Clip | undefined {
  const { init, samples } = collect(files, fromUs, toUs)
  const shown = samples.filter(({ timeUs }) => timeUs >= fromUs && timeUs < toUs)
  if (!init || shown.length === 0) return undefined
  const needed = samples.slice(0, samples.findLastIndex(({ timeUs }) => timeUs < toUs) + 1)
  const begin = shown.reduce((least, { pts }) => Math.min(least, pts), Number.POSITIVE_INFINITY)
  const end = shown.reduce((most, { pts, duration }) => Math.max(most, pts + duration), 0)
  const data = needed.reduce((sum, { size }) => sum + size, 0)
  const describe = (offset: number) => movie(init, needed, { begin, end }, offset)
  const ftyp = box('ftyp', Buffer.from('isom'), u32(512), Buffer.from('isomiso2avc1mp41'))
  const offset = ftyp.length + describe(0).length + MDAT_HEAD_BYTES
  const mdat = Buffer.concat([u32(1), Buffer.from('mdat'), u64(data + MDAT_HEAD_BYTES)])
  const head = Buffer.concat([ftyp, describe(offset), mdat])
  return { head, pieces: piecesOf(needed), bytes: head.length + data }
}

/** All samples from the keyframe before `fromUs` on, in decoding order and with times of the clip. */
function collect(files: readonly { path: string }[], fromUs: number, toUs: number) {
  const samples: ClipSample[] = []
  let init: Uint8Array | undefined
  let placement = beginning
  for (const { path } of files) {
    const content = existsSync(path) ? readSegment(path) : undefined
    if (!content) continue
    init ??= content.init
    if (Buffer.compare(init, content.init) !== 0) break
    for (const fragment of selected(content, fromUs, toUs)) {
      const { at, after } = place(placement, content.about, fragment)
      placement = after
      const first = fragment.samples[0]!
      for (const sample of fragment.samples) {
        const [dts, pts] = [at + sample.dts - first.dts, at + sample.pts - first.dts]
        const timeUs = fragment.timeUs + Math.round(((sample.pts - first.pts) * 100) / 9)
        samples.push({ ...sample, dts, pts, timeUs, path })
      }
    }
  }
  return { init, samples }
}

/** The moov that describes these samples, whose data begin at `offset`; a new one around what the files say of the video. */
function movie(
  init: Uint8Array,
  samples: readonly ClipSample[],
  shown: { begin: number; end: number },
  offset: number,
) {
  const from = Buffer.from(init)
  const length = shown.end - shown.begin
  const first = samples[0]!.dts
  const edit = fullBox('elst', 1, 0, u32(1), u64(length), u64(shown.begin - first), u16(1, 0))
  const media = samples.at(-1)!.dts + samples.at(-1)!.duration - first
  return box(
    'moov',
    withNumber(boxIn(from, 'mvhd'), 24, length),
    box(
      'trak',
      withNumber(boxIn(from, 'tkhd'), 28, length),
      box('edts', edit),
      box(
        'mdia',
        withNumber(boxIn(from, 'mdhd'), 24, media),
        boxIn(from, 'hdlr'),
        box(
          'minf',
          boxIn(from, 'vmhd'),
          boxIn(from, 'dinf'),
          sampleTable(boxIn(from, 'stsd'), samples, offset),
        ),
      ),
    ),
  )
}

function sampleTable(stsd: Uint8Array, samples: readonly ClipSample[], offset: number): Buffer {
  const lengths = samples.map(({ dts, duration }, i) => (samples[i + 1]?.dts ?? dts + duration) - dts)
  const shifts = samples.map(({ dts, pts }) => pts - dts)
  const keyframes = samples.flatMap(({ keyframe }, i) => (keyframe ? [i + 1] : []))
  const runs = (values: number[], write: (value: number) => Buffer) => {
    const all = runLengths(values)
    return [u32(all.length), ...all.map(([count, value]) => Buffer.concat([u32(count), write(value)]))]
  }
  return box(
    'stbl',
    stsd,
    fullBox('stts', 0, 0, ...runs(lengths, value => u32(value))),
    fullBox('ctts', 1, 0, ...runs(shifts, i32)),
    fullBox('stss', 0, 0, u32(keyframes.length, ...keyframes)),
    fullBox('stsc', 0, 0, u32(1, 1, samples.length, 1)),
    fullBox('stsz', 0, 0, u32(0, samples.length, ...samples.map(({ size }) => size))),
    fullBox('co64', 0, 0, u32(1), u64(offset)),
  )
}

function runLengths(values: readonly number[]): [count: number, value: number][] {
  const runs: [number, number][] = []
  for (const value of values) {
    const last = runs.at(-1)
    if (last?.[1] === value) last[0]++
    else runs.push([1, value])
  }
  return runs
}

/** What lies one behind the other in a file is one piece. */
function piecesOf(samples: readonly ClipSample[]): Piece[] {
  const pieces: Piece[] = []
  for (const { path, offset, size } of samples) {
    const last = pieces.at(-1)
    if (last?.path === path && last.offset + last.length === offset) last.length += size
    else pieces.push({ path, offset, length: size })
  }
  return pieces
}

/** The first box of a type; our own init segments hold each once. */
function boxIn(init: Buffer, type: string): Buffer {
  const at = init.indexOf(type) - 4
  return init.subarray(at, at + init.readUInt32BE(at))
}

function withNumber(bytes: Buffer, at: number, value: number): Buffer {
  const copy = Buffer.from(bytes)
  copy.writeUInt32BE(value, at)
  return copy
}
