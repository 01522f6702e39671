import { existsSync, readFileSync } from 'node:fs'
import { type RecordedFrame, TICKS_PER_SECOND } from '@eyrie/contract'
import { toIsoTime } from '../../runtime/clock.ts'
import { ticksToUs } from '../../runtime/stream-time.ts'
import { parseJsonLines } from '../format/metadata-lines.ts'
import {
  placeFragment,
  selectFragments,
  type TimelinePosition,
} from '../format/playback-timeline.ts'
import { type Fragment, readSegment, type SegmentContent } from '../format/segment-format.ts'

/**
 * An analysis result of one picture (objects, counters, shapes), as a line of the metadata file
 * next to a segment stores it. Its `pts` is stream time.
 */
export type StoredResult = Pick<
  RecordedFrame,
  'channel' | 'pts' | 'objects' | 'counters' | 'shapes'
>

export interface MetadataQuery {
  /** Path of the segment's video file. */
  segment: string
  /**
   * Paths of the segment's metadata file and the next one, which contains results that arrived
   * late.
   */
  metadataFiles: readonly string[]
  fromUs: number
  /** Exclusive. */
  toUs: number
  /** The position in the playback before this segment. */
  position: TimelinePosition
  /** The channels whose results are read; undefined for all channels. */
  channels: readonly number[] | undefined
}

/**
 * A fragment and its position in the playback, which leaves out gaps. Times are in ticks from the
 * beginning of the segment.
 */
interface PlacedFragment {
  fragment: Fragment
  begin: number
  end: number
  /** Playback time minus segment time, in ticks. */
  shift: number
}

/**
 * Presentation times of B-frames may exceed the decode times, from which the end of a
 * fragment is calculated.
 */
const REORDERING_TICKS = TICKS_PER_SECOND

/**
 * Returns the analysis results of a segment's pictures as JSON lines with playback times, and the
 * playback position after the segment.
 */
export function readSegmentMetadata(query: MetadataQuery): {
  text: string
  after: TimelinePosition
} {
  const { segment, position } = query
  const content = existsSync(segment) ? readSegment(segment) : undefined
  // A new segment has no fragments until its first pictures are written.
  if (!content?.fragments.length) return { text: '', after: position }

  const { placed, after } = placeFragments(content, query)
  if (placed.length === 0) return { text: '', after }

  const isSelected = ({ channel }: StoredResult) => query.channels?.includes(channel) ?? true
  const results = query.metadataFiles.flatMap(readResults).filter(isSelected)
  const frames = toRecordedFrames(results, content, placed, query.toUs)
  frames.sort((a, b) => a.pts - b.pts || a.channel - b.channel)
  addInitialShapes(frames, results)
  return { text: frames.map(frame => `${JSON.stringify(frame)}\n`).join(''), after }
}

/**
 * Selects the fragments in the queried time, and places them in the playback after the
 * position of the query.
 */
function placeFragments(content: SegmentContent, { fromUs, toUs, position }: MetadataQuery) {
  const placed: PlacedFragment[] = []
  let after = position
  for (const fragment of selectFragments(content, fromUs, toUs)) {
    const placement = placeFragment(after, content.info, fragment)
    after = placement.after
    const begin = fragment.pictures[0]!.dts
    const last = fragment.pictures.at(-1)!
    placed.push({
      fragment,
      begin,
      end: last.dts + last.duration,
      shift: placement.decodeTime - begin,
    })
  }
  return { placed, after }
}

/** Converts the results whose pictures are in the fragments, from stream time to playback time. */
function toRecordedFrames(
  results: readonly StoredResult[],
  { info, fragments }: SegmentContent,
  placed: readonly PlacedFragment[],
  toUs: number,
): RecordedFrame[] {
  const begin = placed[0]!.begin
  const end = placed.at(-1)!.end + REORDERING_TICKS
  const lastPts = Math.max(...fragments.at(-1)!.pictures.map(({ pts }) => pts))

  const frames: RecordedFrame[] = []
  for (const result of results) {
    // From here on, times are counted from the beginning of the segment.
    const pts = result.pts - info.pts
    // Results after the last picture belong to the next segment.
    if (pts < begin || pts >= end || pts > lastPts) continue

    const { fragment, shift } = placed.findLast(candidate => candidate.begin <= pts)!
    const timeUs = fragment.timeUs + Math.round(ticksToUs(pts - fragment.pictures[0]!.pts))
    if (timeUs >= toUs) continue

    const at = (shift + pts) / TICKS_PER_SECOND
    frames.push({ ...result, epoch: info.epoch, time: toIsoTime(timeUs), at })
  }
  return frames
}

/**
 * Adds the shapes (lines and zones) to the first frame of each channel. Results contain shapes only
 * once per second, but a player needs them from the beginning.
 */
function addInitialShapes(
  frames: readonly RecordedFrame[],
  results: readonly StoredResult[],
): void {
  const handledChannels = new Set<number>()
  for (const frame of frames) {
    if (handledChannels.has(frame.channel)) continue
    handledChannels.add(frame.channel)
    frame.shapes ??= findShapes(results, frame)
  }
}

/** Returns the channel's latest shapes at the time of the frame, or the first ones after it. */
function findShapes(results: readonly StoredResult[], { channel, pts }: RecordedFrame) {
  const withShapes = results.filter(result => result.channel === channel && result.shapes)
  const latest = withShapes.findLast(result => result.pts <= pts) ?? withShapes[0]
  return latest?.shapes
}

function readResults(path: string): StoredResult[] {
  if (!existsSync(path)) return []
  return parseJsonLines<Partial<StoredResult>>(readFileSync(path, 'utf8')).filter(isResult)
}

/** Metadata files also contain events, which have no objects. */
const isResult = (line: Partial<StoredResult>): line is StoredResult => line.objects !== undefined
