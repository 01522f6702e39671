import { existsSync } from 'node:fs'
import { box, u32, u64 } from '@eyrie/kit/mp4-boxes'
import {
  type Chunk,
  createClipTrack,
  findBox,
  type PresentationRange,
  readChildren,
  withUint32,
} from './clip-track.ts'
import type { Sample } from './fragment-samples.ts'
import { placeFragment, selectFragments, timelineStart } from './playback-timeline.ts'
import { readSegment } from './segment-format.ts'

/** Bytes of a file. */
export interface FileSlice {
  path: string
  offset: number
  length: number
}

/** A whole MP4 file: its head, and where the rest of it lies. */
export interface Clip {
  head: Uint8Array
  slices: FileSlice[]
  bytes: number
}

interface ClipSample extends Sample {
  path: string
  timeUs: number
  /** Number of its fragment: what lies there together is a chunk of its track. */
  fragment: number
}

interface Samples {
  init: Buffer | undefined
  pictures: ClipSample[]
  sounds: ClipSample[]
}

const MDAT_HEAD_BYTES = 16

/**
 * The pictures of `fromUs` up to `toUs` with their sound as an MP4 with its index in front. What has to be decoded for the
 * first of them is in it and hidden by an edit list, so that it shows exactly what was asked for. It ends where the
 * picture's size changes. Undefined where there is nothing.
 */
export function createClip(
  files: readonly { path: string }[],
  fromUs: number,
  toUs: number,
): Clip | undefined {
  const { init, pictures, sounds } = collect(files, fromUs, toUs)
  const seen = pictures.filter(({ timeUs }) => timeUs >= fromUs && timeUs < toUs)
  if (!init || seen.length === 0) return undefined
  const needed = pictures.slice(0, pictures.findLastIndex(({ timeUs }) => timeUs < toUs) + 1)
  const begin = seen.reduce((least, { pts }) => Math.min(least, pts), Number.POSITIVE_INFINITY)
  const end = seen.reduce((most, { pts, duration }) => Math.max(most, pts + duration), 0)
  const heard = sounds.filter(({ pts, duration }) => pts + duration > begin && pts < end)
  const chunks = chunksOf(needed, heard)
  const data = sizeOf(needed) + sizeOf(heard)
  const describe = (offset: number) => movie(init, chunks, { begin, end }, offset)
  const ftyp = box('ftyp', Buffer.from('isom'), u32(512), Buffer.from('isomiso2avc1mp41'))
  const offset = ftyp.length + describe(0).length + MDAT_HEAD_BYTES
  const mdat = Buffer.concat([u32(1), Buffer.from('mdat'), u64(data + MDAT_HEAD_BYTES)])
  const head = Buffer.concat([ftyp, describe(offset), mdat])
  return { head, slices: piecesOf(chunks.flatMap(({ samples }) => samples)), bytes: head.length + data }
}

/** All samples from the keyframe before `fromUs` on, in decoding order and with times of the clip. */
function collect(files: readonly { path: string }[], fromUs: number, toUs: number): Samples {
  const samples: Samples = { init: undefined, pictures: [], sounds: [] }
  let placement = timelineStart
  let fragments = 0
  for (const { path } of files) {
    const content = existsSync(path) ? readSegment(path) : undefined
    if (!content) continue
    samples.init ??= Buffer.from(content.init)
    if (Buffer.compare(samples.init, content.init) !== 0) break
    for (const fragment of selectFragments(content, fromUs, toUs)) {
      const { at, after } = placeFragment(placement, content.info, fragment)
      placement = after
      fragments++
      const first = fragment.samples[0]!
      const placed = (sample: Sample): ClipSample => {
        const [dts, pts] = [at + sample.dts - first.dts, at + sample.pts - first.dts]
        const timeUs = fragment.timeUs + Math.round(((sample.pts - first.pts) * 100) / 9)
        return { ...sample, dts, pts, timeUs, path, fragment: fragments }
      }
      for (const sample of fragment.samples) samples.pictures.push(placed(sample))
      for (const sample of fragment.sounds) samples.sounds.push(placed(sample))
    }
  }
  return samples
}

interface TrackChunk {
  track: 'picture' | 'sound'
  fragment: number
  samples: ClipSample[]
}

/** Pictures and the sound of their time next to each other, so that who plays it while it comes has both. */
function chunksOf(pictures: readonly ClipSample[], sounds: readonly ClipSample[]): TrackChunk[] {
  const tracks = [
    ['picture', pictures],
    ['sound', sounds],
  ] as const
  const chunks = tracks.flatMap(([track, samples]) => {
    const byFragment = Map.groupBy(samples, ({ fragment }) => fragment)
    return [...byFragment].map(([fragment, samples]) => ({ track, fragment, samples }))
  })
  return chunks.sort((a, b) => a.fragment - b.fragment)
}

/** The moov that describes these samples, whose data begin at `offset`; a new one around what the files say of the tracks. */
function movie(
  init: Buffer,
  chunks: readonly TrackChunk[],
  shown: PresentationRange,
  offset: number,
): Buffer {
  let at = offset
  const placed = chunks.map(chunk => {
    const begin = at
    at += sizeOf(chunk.samples)
    return { ...chunk, offset: begin }
  })
  const moov = init.subarray(init.indexOf('moov') - 4)
  const traks = readChildren(moov).filter(child => child.toString('latin1', 4, 8) === 'trak')
  const tracks = (['picture', 'sound'] as const).flatMap((track, i): Buffer[] => {
    const own: Chunk[] = placed.filter(chunk => chunk.track === track)
    return own.length > 0 ? [createClipTrack(traks[i]!, own, shown)] : []
  })
  return box('moov', withUint32(findBox(moov, ['mvhd']), 24, shown.end - shown.begin), ...tracks)
}

const sizeOf = (samples: readonly Sample[]) => samples.reduce((sum, { size }) => sum + size, 0)

/** What lies one behind the other in a file is one piece. */
function piecesOf(samples: readonly ClipSample[]): FileSlice[] {
  const pieces: FileSlice[] = []
  for (const { path, offset, size } of samples) {
    const last = pieces.at(-1)
    if (last?.path === path && last.offset + last.length === offset) last.length += size
    else pieces.push({ path, offset, length: size })
  }
  return pieces
}
