import { existsSync } from 'node:fs'
import { box, u32, u64 } from '@eyrie/kit/mp4-boxes'
import { ticksToUs } from '../../runtime/stream-time.ts'
import { findBox, getType, readChildren, withUint32 } from './box-reader.ts'
import { type Chunk, createClipTrack, type PresentationRange } from './clip-track.ts'
import type { Sample } from './fragment-samples.ts'
import { placeFragment, selectFragments, TIMELINE_START } from './playback-timeline.ts'
import { readSegment } from './segment-format.ts'

/**
 * A clip: an MP4 file for download, made from a time range of the recordings. Its header is in
 * memory, and its pictures and sound are read from the segment files.
 */
export interface Clip {
  /** Everything before the media data. */
  head: Uint8Array
  /** The media data, which follows the head. */
  slices: FileSlice[]
  /** Size of the whole file. */
  bytes: number
}

/** A range of bytes in a file. */
export interface FileSlice {
  path: string
  offset: number
  length: number
}

/**
 * A coded picture or sound unit of the clip. Its times are those in the clip; its offset is that
 * in the segment file.
 */
interface ClipSample extends Sample {
  path: string
  timeUs: number
  /**
   * Number of the fragment that contains the sample. The samples of a track in one
   * fragment form a chunk.
   */
  fragment: number
}

interface ClipSamples {
  init: Buffer | undefined
  pictures: ClipSample[]
  sounds: ClipSample[]
}

const MDAT_HEADER_BYTES = 16
/** Offset of the 32-bit duration field in an `mvhd` box of version 0. */
const MVHD_DURATION_OFFSET = 24

/**
 * Creates an MP4 file of the pictures from `fromUs` to `toUs` (exclusive) and their sound. Returns
 * undefined if nothing is recorded in this time.
 *
 * The file begins with the index (`moov`), so that it can be played while it is downloaded.
 * Decoding starts at the keyframe before `fromUs`; an edit list hides the pictures before `fromUs`.
 * The clip ends early if the codec configuration changes.
 */
export function createClip(
  files: readonly { path: string }[],
  fromUs: number,
  toUs: number,
): Clip | undefined {
  const { init, pictures, sounds } = collectSamples(files, fromUs, toUs)
  const range = findPresentationRange(pictures, fromUs, toUs)
  if (!init || !range) return undefined

  const lastShown = pictures.findLastIndex(({ timeUs }) => timeUs < toUs)
  const decoded = pictures.slice(0, lastShown + 1)
  const audible = sounds.filter(
    ({ pts, duration }) => pts + duration > range.begin && pts < range.end,
  )
  const chunks = createChunks(decoded, omitOverlaps(audible))
  return createFile(init, chunks, range)
}

/**
 * Omits sound that begins before earlier sound. That happens where a gap between pictures is
 * left out of the clip.
 */
function omitOverlaps(sounds: readonly ClipSample[]): ClipSample[] {
  let newestPts = Number.NEGATIVE_INFINITY
  return sounds.filter(({ pts }) => {
    if (pts <= newestPts) return false
    newestPts = pts
    return true
  })
}

/**
 * Returns the times of the clip between which pictures are shown; undefined if there are no
 * pictures.
 */
function findPresentationRange(
  pictures: readonly ClipSample[],
  fromUs: number,
  toUs: number,
): PresentationRange | undefined {
  let range: PresentationRange | undefined
  for (const { pts, duration, timeUs } of pictures) {
    if (timeUs < fromUs || timeUs >= toUs) continue
    range ??= { begin: pts, end: pts + duration }
    range.begin = Math.min(range.begin, pts)
    range.end = Math.max(range.end, pts + duration)
  }
  return range
}

function createFile(init: Buffer, chunks: readonly TrackChunk[], range: PresentationRange): Clip {
  const samples = chunks.flatMap(chunk => chunk.samples)
  const mediaBytes = sumSizes(samples)
  const ftyp = box('ftyp', Buffer.from('isom'), u32(512), Buffer.from('isomiso2avc1mp41'))

  // The moov contains offsets that depend on the length of the moov. The length does not
  // depend on the offsets.
  const moovBytes = createMoov(init, chunks, range, 0).length
  const mediaOffset = ftyp.length + moovBytes + MDAT_HEADER_BYTES
  const moov = createMoov(init, chunks, range, mediaOffset)

  const mdatHeader = Buffer.concat([
    u32(1),
    Buffer.from('mdat'),
    u64(mediaBytes + MDAT_HEADER_BYTES),
  ])
  return {
    head: Buffer.concat([ftyp, moov, mdatHeader]),
    slices: toFileSlices(samples),
    bytes: mediaOffset + mediaBytes,
  }
}

/**
 * Reads the samples from the keyframe before `fromUs` to `toUs`, in decoding order. Their times
 * are those in the clip.
 */
function collectSamples(
  files: readonly { path: string }[],
  fromUs: number,
  toUs: number,
): ClipSamples {
  const collected: ClipSamples = { init: undefined, pictures: [], sounds: [] }
  let position = TIMELINE_START
  let fragmentNumber = 0
  for (const { path } of files) {
    const content = existsSync(path) ? readSegment(path) : undefined
    if (!content) continue

    // Another init segment means another codec configuration, with which one track cannot continue.
    collected.init ??= Buffer.from(content.init)
    if (Buffer.compare(collected.init, content.init) !== 0) break

    for (const fragment of selectFragments(content, fromUs, toUs)) {
      const { decodeTime, after } = placeFragment(position, content.info, fragment)
      position = after
      fragmentNumber++

      const first = fragment.pictures[0]!
      const toClipSample = (sample: Sample): ClipSample => ({
        ...sample,
        dts: decodeTime + sample.dts - first.dts,
        pts: decodeTime + sample.pts - first.dts,
        timeUs: fragment.timeUs + Math.round(ticksToUs(sample.pts - first.pts)),
        path,
        fragment: fragmentNumber,
      })
      collected.pictures.push(...fragment.pictures.map(toClipSample))
      collected.sounds.push(...fragment.sounds.map(toClipSample))
    }
  }
  return collected
}

/** The samples of one track in one fragment, which are stored next to each other in the clip. */
interface TrackChunk {
  track: 'picture' | 'sound'
  fragment: number
  samples: ClipSample[]
}

/**
 * Interleaves pictures and sound by fragment, so that a player has both while it downloads the
 * file.
 */
function createChunks(
  pictures: readonly ClipSample[],
  sounds: readonly ClipSample[],
): TrackChunk[] {
  const chunks = [...createTrackChunks('picture', pictures), ...createTrackChunks('sound', sounds)]
  return chunks.sort((a, b) => a.fragment - b.fragment)
}

function createTrackChunks(
  track: TrackChunk['track'],
  samples: readonly ClipSample[],
): TrackChunk[] {
  const byFragment = Map.groupBy(samples, ({ fragment }) => fragment)
  return [...byFragment].map(([fragment, samples]) => ({ track, fragment, samples }))
}

/**
 * Creates the moov. The tracks are copied from the init segment; the media data
 * begins at `mediaOffset`.
 */
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
  if (chunksByTrack.sound.length > 0) {
    tracks.push(createClipTrack(soundTrak!, chunksByTrack.sound, range))
  }

  const movieHeader = withUint32(
    findBox(moov, ['mvhd']),
    MVHD_DURATION_OFFSET,
    range.end - range.begin,
  )
  return box('moov', movieHeader, ...tracks)
}

const sumSizes = (samples: readonly Sample[]) => samples.reduce((sum, { size }) => sum + size, 0)

/** Returns the byte ranges of samples. Contiguous samples are merged into one range. */
function toFileSlices(samples: readonly ClipSample[]): FileSlice[] {
  const slices: FileSlice[] = []
  for (const { path, offset, size } of samples) {
    const last = slices.at(-1)
    if (last?.path === path && last.offset + last.length === offset) last.length += size
    else slices.push({ path, offset, length: size })
  }
  return slices
}
