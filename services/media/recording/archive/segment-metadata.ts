import { existsSync, readFileSync } from 'node:fs'
import { type RecordedFrame, TICKS_PER_SECOND } from '@eyrie/contract'
import { parseJsonLines } from '../format/metadata-lines.ts'
import { placeFragment, selectFragments, type TimelinePosition } from '../format/playback-timeline.ts'
import { readSegment } from '../format/segment-format.ts'

/** A line beside the pictures, as it is kept. */
export type MetadataLine = Pick<RecordedFrame, 'channel' | 'pts' | 'objects' | 'counters' | 'shapes'>

export interface MetadataQuery {
  /** The file with the pictures. */
  segment: string
  /** Where what was found in them may stand: it comes a little later than they do. */
  files: readonly string[]
  fromUs: number
  toUs: number
  /** Of the playback before this segment. */
  placement: TimelinePosition
}

/** What was found in the pictures of one segment, as lines of JSON, with the time in the playback of the same range. */
export function readSegmentMetadata({ segment, files, fromUs, toUs, placement }: MetadataQuery) {
  const content = existsSync(segment) ? readSegment(segment) : undefined
  // The first pictures of a file may still be on their way to the disk.
  if (!content?.fragments.length) return { text: '', placement }
  const { info } = content
  let after = placement
  const spans = selectFragments(content, fromUs, toUs).map(fragment => {
    const placed = placeFragment(after, info, fragment)
    after = placed.after
    const [first, last] = [fragment.samples[0]!, fragment.samples.at(-1)!]
    return { at: placed.at - first.dts, from: first.dts, to: last.dts + last.duration, first, fragment }
  })
  const [begin, end] = [spans[0]?.from ?? 0, (spans.at(-1)?.to ?? 0) + TICKS_PER_SECOND]
  const lines = files.flatMap(readLines)
  const frames = lines.flatMap((line): RecordedFrame[] => {
    const pts = line.pts - info.pts
    if (pts < begin || pts >= end) return []
    const span = spans.findLast(({ from }) => from <= pts)!
    const timeUs = span.fragment.timeUs + Math.round(((pts - span.first.pts) * 100) / 9)
    // What the next segment shows is told there.
    if (timeUs >= toUs || !isIn(content.fragments.at(-1)!, pts)) return []
    const time = new Date(timeUs / 1000).toISOString()
    return [{ ...line, epoch: info.epoch, time, at: (span.at + pts) / TICKS_PER_SECOND }]
  })
  frames.sort((a, b) => a.pts - b.pts || a.channel - b.channel)
  for (const first of firstOfChannels(frames)) first.shapes ??= shapesAt(lines, first)
  return { text: frames.map(frame => `${JSON.stringify(frame)}\n`).join(''), placement: after }
}

const isIn = ({ samples }: { samples: { pts: number }[] }, pts: number) =>
  pts <= Math.max(...samples.map(sample => sample.pts))

const firstOfChannels = (frames: readonly RecordedFrame[]) =>
  new Map(frames.toReversed().map(frame => [frame.channel, frame])).values()

/** As they were before this frame, else as they were told first in this file: that is a second away at most. */
function shapesAt(lines: readonly MetadataLine[], { channel, pts }: RecordedFrame) {
  const told = lines.filter(line => line.channel === channel && line.shapes)
  return (told.findLast(line => line.pts <= pts) ?? told[0])?.shapes
}

const readLines = (path: string) =>
  existsSync(path) ? parseJsonLines<Partial<MetadataLine>>(readFileSync(path, 'utf8')).filter(isResult) : []

/** Events stand there, too. */
const isResult = (line: Partial<MetadataLine>): line is MetadataLine => line.objects !== undefined
