import { existsSync, readFileSync } from 'node:fs'
import { type RecordedFrame, TICKS_PER_SECOND } from '@eyrie/contract'
import { parseJsonLines } from '../format/metadata-lines.ts'
import { placeFragment, selectFragments, type TimelinePosition } from '../format/playback-timeline.ts'
import { type Fragment, readSegment } from '../format/segment-format.ts'

/** A result as stored in a metadata file. */
export type MetadataLine = Pick<RecordedFrame, 'channel' | 'pts' | 'objects' | 'counters' | 'shapes'>

export interface MetadataQuery {
  /** Path of the segment. */
  segment: string
  /** Metadata files that may have its results: its own, and the next one because results arrive after their pictures. */
  files: readonly string[]
  fromUs: number
  toUs: number
  /** Position of the playback before this segment. */
  position: TimelinePosition
}

/** A fragment in the playback. Times in ticks of the segment. */
interface PlacedFragment {
  fragment: Fragment
  begin: number
  end: number
  /** Ticks from segment time to playback time. */
  shift: number
}

/** Returns the results of a segment's pictures as JSON lines with playback times, and the position after the segment. */
export function readSegmentMetadata({ segment, files, fromUs, toUs, position }: MetadataQuery) {
  const content = existsSync(segment) ? readSegment(segment) : undefined
  // A new file has no fragments until its first pictures are written.
  if (!content?.fragments.length) return { text: '', after: position }
  const { info } = content
  const placed: PlacedFragment[] = []
  let after = position
  for (const fragment of selectFragments(content, fromUs, toUs)) {
    const placement = placeFragment(after, info, fragment)
    after = placement.after
    const begin = fragment.samples[0]!.dts
    const last = fragment.samples.at(-1)!
    placed.push({ fragment, begin, end: last.dts + last.duration, shift: placement.decodeTime - begin })
  }
  const begin = placed[0]?.begin ?? 0
  const end = (placed.at(-1)?.end ?? 0) + TICKS_PER_SECOND
  const lastPts = Math.max(...content.fragments.at(-1)!.samples.map(({ pts }) => pts))

  const lines = files.flatMap(readLines)
  const frames = lines.flatMap((line): RecordedFrame[] => {
    const pts = line.pts - info.pts
    if (pts < begin || pts >= end) return []
    const { fragment, shift } = placed.findLast(each => each.begin <= pts)!
    const timeUs = fragment.timeUs + Math.round(((pts - fragment.samples[0]!.pts) * 100) / 9)
    // Results after the last picture belong to the next segment.
    if (timeUs >= toUs || pts > lastPts) return []
    const time = new Date(timeUs / 1000).toISOString()
    return [{ ...line, epoch: info.epoch, time, at: (shift + pts) / TICKS_PER_SECOND }]
  })
  frames.sort((a, b) => a.pts - b.pts || a.channel - b.channel)
  for (const frame of findFirstPerChannel(frames)) frame.shapes ??= findShapes(lines, frame)
  return { text: frames.map(frame => `${JSON.stringify(frame)}\n`).join(''), after }
}

function findFirstPerChannel(frames: readonly RecordedFrame[]): Iterable<RecordedFrame> {
  const first = new Map<number, RecordedFrame>()
  for (const frame of frames) if (!first.has(frame.channel)) first.set(frame.channel, frame)
  return first.values()
}

/** Shapes are reported once per second: returns the last ones before the frame, else the first ones in the file. */
function findShapes(lines: readonly MetadataLine[], { channel, pts }: RecordedFrame) {
  const reports = lines.filter(line => line.channel === channel && line.shapes)
  const report = reports.findLast(line => line.pts <= pts) ?? reports[0]
  return report?.shapes
}

function readLines(path: string): MetadataLine[] {
  if (!existsSync(path)) return []
  const lines = parseJsonLines<Partial<MetadataLine>>(readFileSync(path, 'utf8'))
  return lines.filter(isResult)
}

/** Metadata files also contain events, which have no objects. */
const isResult = (line: Partial<MetadataLine>): line is MetadataLine => line.objects !== undefined
