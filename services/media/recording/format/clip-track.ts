import { box, fullBox, u16, u32, u32Table, u64 } from '@eyrie/kit/mp4-boxes'
import { findBox, getType, readChildren, withUint32 } from './box-reader.ts'
import type { Sample } from './fragment-samples.ts'

/**
 * A part of a track in an MP4 file: samples (coded pictures or sound units) whose
 * bytes are contiguous.
 */
export interface Chunk {
  /** Byte offset of the first sample in the file. */
  offset: number
  samples: readonly Sample[]
}

/**
 * The part of a clip that is shown. Times are in 90 kHz ticks and do not include the
 * effect of the edit list.
 */
export interface PresentationRange {
  begin: number
  end: number
}

/** Offsets of the 32-bit duration field in boxes of version 0. */
const TKHD_DURATION_OFFSET = 28
const MDHD_DURATION_OFFSET = 24
/** Media time -1, which marks an empty edit. */
const EMPTY_EDIT_TIME = Buffer.alloc(8, 0xff)

/**
 * Creates the `trak` box of an unfragmented MP4 file (ISO/IEC 14496-12). `trak` is the box
 * of a fragmented file, from which the sample descriptions are copied. `chunks` must contain
 * at least one sample.
 */
export function createClipTrack(
  trak: Buffer,
  chunks: readonly Chunk[],
  range: PresentationRange,
): Buffer {
  const samples = chunks.flatMap(chunk => chunk.samples)
  const first = samples[0]!
  const last = samples.at(-1)!
  const presentedDuration = range.end - range.begin
  const mediaDuration = last.dts + last.duration - first.dts

  const trackHeader = withUint32(findBox(trak, ['tkhd']), TKHD_DURATION_OFFSET, presentedDuration)
  const mediaHeader = withUint32(
    findBox(trak, ['mdia', 'mdhd']),
    MDHD_DURATION_OFFSET,
    mediaDuration,
  )
  const handler = findBox(trak, ['mdia', 'hdlr'])
  const mediaInfo = readChildren(findBox(trak, ['mdia', 'minf'])).map(child =>
    getType(child) === 'stbl' ? createSampleTable(child, chunks) : child,
  )

  return box(
    'trak',
    trackHeader,
    box('edts', createEditList(first.dts, range)),
    box('mdia', mediaHeader, handler, box('minf', ...mediaInfo)),
  )
}

/**
 * Creates an edit list, which presents a range of a track that begins at the time `trackBegin`. The
 * list starts with an empty edit if the track begins after the range.
 */
function createEditList(trackBegin: number, { begin, end }: PresentationRange): Buffer {
  const delay = Math.max(0, trackBegin - begin)
  const skipped = Math.max(0, begin - trackBegin)
  const entries = [createEdit(end - begin - delay, u64(skipped))]
  if (delay > 0) entries.unshift(createEdit(delay, EMPTY_EDIT_TIME))
  return fullBox('elst', 1, 0, u32(entries.length), ...entries)
}

function createEdit(duration: number, mediaTime: Buffer): Buffer {
  const playbackRate = u16(1, 0)
  return Buffer.concat([u64(duration), mediaTime, playbackRate])
}

/**
 * Creates the `stbl` box, which has the time, size and position of each sample. `stbl` is the box
 * to copy the `stsd` from.
 */
function createSampleTable(stbl: Buffer, chunks: readonly Chunk[]): Buffer {
  const samples = chunks.flatMap(chunk => chunk.samples)

  // A sample lasts until the next one begins.
  const durations = samples.map(({ dts, duration }, index) => {
    const end = samples[index + 1]?.dts ?? dts + duration
    return end - dts
  })
  const durationRuns = encodeRuns(durations)

  const compositionOffsets = samples.map(({ dts, pts }) => pts - dts)
  const offsetRuns = encodeRuns(compositionOffsets)

  // In `stsz`, 0 instead of a common size means that each sample has a size of its own.
  const commonSize = 0
  const sizes = samples.map(({ size }) => size)
  const chunkRuns = createChunkRuns(chunks)
  const chunkOffsets = chunks.map(({ offset }) => u64(offset))

  return box(
    'stbl',
    findBox(stbl, ['stsd']),
    fullBox('stts', 0, 0, u32(durationRuns.length), createRunTable(durationRuns)),
    fullBox('ctts', 1, 0, u32(offsetRuns.length), createRunTable(offsetRuns)),
    ...createSyncSampleBoxes(samples),
    fullBox('stsc', 0, 0, u32(chunkRuns.length), u32Table(chunkRuns.flat())),
    fullBox('stsz', 0, 0, u32(commonSize, samples.length), u32Table(sizes)),
    fullBox('co64', 0, 0, u32(chunks.length), Buffer.concat(chunkOffsets)),
  )
}

/**
 * Returns the `stss` box, which lists the keyframes. It is omitted if every sample is a keyframe.
 */
function createSyncSampleBoxes(samples: readonly Sample[]): Buffer[] {
  const keyframeNumbers: number[] = []
  for (const [index, { keyframe }] of samples.entries()) {
    if (keyframe) keyframeNumbers.push(index + 1)
  }
  if (keyframeNumbers.length === samples.length) return []
  return [fullBox('stss', 0, 0, u32(keyframeNumbers.length), u32Table(keyframeNumbers))]
}

/**
 * Returns the entries of the `stsc` box: one for each run of chunks with the same number of
 * samples.
 */
function createChunkRuns(chunks: readonly Chunk[]): number[][] {
  const sampleDescription = 1
  let firstChunk = 1
  return encodeRuns(chunks.map(({ samples }) => samples.length)).map(({ count, value }) => {
    const entry = [firstChunk, value, sampleDescription]
    firstChunk += count
    return entry
  })
}

/** Equal consecutive values. */
interface Run {
  count: number
  value: number
}

/** Run-length encodes values. */
function encodeRuns(values: readonly number[]): Run[] {
  const runs: Run[] = []
  for (const value of values) {
    const last = runs.at(-1)
    if (last?.value === value) last.count++
    else runs.push({ count: 1, value })
  }
  return runs
}

/** Returns the count and the value of each run. Negative values are written as signed numbers. */
const createRunTable = (runs: readonly Run[]): Buffer =>
  u32Table(runs.flatMap(({ count, value }) => [count, value >>> 0]))
