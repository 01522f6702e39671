import { existsSync } from 'node:fs'
import { box, u32, u64 } from '@eyrie/kit/mp4-boxes'
import {
  type Chunk,
  createClipTrack,
  findBox,
  getType,
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

/** An MP4 file whose media data is in segments. */
export interface Clip {
  head: Uint8Array
  slices: FileSlice[]
  /** Length of the whole file. */
  bytes: number
}

interface ClipSample extends Sample {
  path: string
  timeUs: number
  /** Number of its fragment. The samples of a track in a fragment form a chunk. */
  fragment: number
}

interface ClipSamples {
  init: Buffer | undefined
  pictures: ClipSample[]
  sounds: ClipSample[]
}

const MDAT_HEADER_BYTES = 16

/**
 * Creates an MP4 file, with its index first, of the pictures from `fromUs` up to `toUs` and their sound. The clip also contains the
 * pictures from the keyframe before `fromUs` on, which are needed for decoding and hidden by an edit list. It ends where the
 * track's configuration changes. Returns undefined if nothing is recorded in this time.
 */
export function createClip(
  files: readonly { path: string }[],
  fromUs: number,
  toUs: number,
): Clip | undefined {
  const { init, pictures, sounds } = collectSamples(files, fromUs, toUs)
  const presented = pictures.filter(({ timeUs }) => timeUs >= fromUs && timeUs < toUs)
  if (!init || presented.length === 0) return undefined
  let begin = Number.POSITIVE_INFINITY
  let end = 0
  for (const { pts, duration } of presented) {
    begin = Math.min(begin, pts)
    end = Math.max(end, pts + duration)
  }
  const decoded = pictures.slice(0, pictures.findLastIndex(({ timeUs }) => timeUs < toUs) + 1)
  const audible = sounds.filter(({ pts, duration }) => pts + duration > begin && pts < end)
  const chunks = createChunks(decoded, audible)
  const mediaBytes = sumSizes(decoded) + sumSizes(audible)

  const ftyp = box('ftyp', Buffer.from('isom'), u32(512), Buffer.from('isomiso2avc1mp41'))
  // The offsets in the moov depend on its own length, which is the same for all offsets.
  const moovBytes = createMoov(init, chunks, { begin, end }, 0).length
  const mediaOffset = ftyp.length + moovBytes + MDAT_HEADER_BYTES
  const moov = createMoov(init, chunks, { begin, end }, mediaOffset)
  const mdatHeader = Buffer.concat([u32(1), Buffer.from('mdat'), u64(mediaBytes + MDAT_HEADER_BYTES)])
  return {
    head: Buffer.concat([ftyp, moov, mdatHeader]),
    slices: toFileSlices(chunks.flatMap(({ samples }) => samples)),
    bytes: mediaOffset + mediaBytes,
  }
}

/** Reads all samples from the keyframe before `fromUs` on, in decoding order and with times of the clip. */
function collectSamples(files: readonly { path: string }[], fromUs: number, toUs: number): ClipSamples {
  const collected: ClipSamples = { init: undefined, pictures: [], sounds: [] }
  let position = timelineStart
  let fragmentNumber = 0
  for (const { path } of files) {
    const content = existsSync(path) ? readSegment(path) : undefined
    if (!content) continue
    collected.init ??= Buffer.from(content.init)
    if (Buffer.compare(collected.init, content.init) !== 0) break
    for (const fragment of selectFragments(content, fromUs, toUs)) {
      const { decodeTime, after } = placeFragment(position, content.info, fragment)
      position = after
      fragmentNumber++
      const first = fragment.samples[0]!
      const toClipSample = (sample: Sample): ClipSample => ({
        ...sample,
        dts: decodeTime + sample.dts - first.dts,
        pts: decodeTime + sample.pts - first.dts,
        timeUs: fragment.timeUs + Math.round(((sample.pts - first.pts) * 100) / 9),
        path,
        fragment: fragmentNumber,
      })
      for (const sample of fragment.samples) collected.pictures.push(toClipSample(sample))
      for (const sample of fragment.sounds) collected.sounds.push(toClipSample(sample))
    }
  }
  return collected
}

interface TrackChunk {
  track: 'picture' | 'sound'
  fragment: number
  samples: ClipSample[]
}

/** Interleaves the chunks of both tracks by fragment, so that a player has both while it downloads the file. */
function createChunks(pictures: readonly ClipSample[], sounds: readonly ClipSample[]): TrackChunk[] {
  const chunks = [...createTrackChunks('picture', pictures), ...createTrackChunks('sound', sounds)]
  return chunks.sort((a, b) => a.fragment - b.fragment)
}

function createTrackChunks(track: TrackChunk['track'], samples: readonly ClipSample[]): TrackChunk[] {
  const byFragment = Map.groupBy(samples, ({ fragment }) => fragment)
  return [...byFragment].map(([fragment, samples]) => ({ track, fragment, samples }))
}

/** Creates the moov with the tracks of `init` and these samples, whose data begins at `mediaOffset`. */
function createMoov(
  init: Buffer,
  chunks: readonly TrackChunk[],
  range: PresentationRange,
  mediaOffset: number,
): Buffer {
  const chunksByTrack: Record<TrackChunk['track'], Chunk[]> = { picture: [], sound: [] }
  let offset = mediaOffset
  for (const { track, samples } of chunks) {
    chunksByTrack[track].push({ offset, samples })
    offset += sumSizes(samples)
  }
  const moov = init.subarray(init.indexOf('moov') - 4)
  const [pictureTrak, soundTrak] = readChildren(moov).filter(child => getType(child) === 'trak')
  const tracks = [createClipTrack(pictureTrak!, chunksByTrack.picture, range)]
  if (chunksByTrack.sound.length > 0) tracks.push(createClipTrack(soundTrak!, chunksByTrack.sound, range))
  return box('moov', withUint32(findBox(moov, ['mvhd']), 24, range.end - range.begin), ...tracks)
}

const sumSizes = (samples: readonly Sample[]) => samples.reduce((sum, { size }) => sum + size, 0)

/** Merges samples that are contiguous in their file. */
function toFileSlices(samples: readonly ClipSample[]): FileSlice[] {
  const slices: FileSlice[] = []
  for (const { path, offset, size } of samples) {
    const last = slices.at(-1)
    if (last?.path === path && last.offset + last.length === offset) last.length += size
    else slices.push({ path, offset, length: size })
  }
  return slices
}
