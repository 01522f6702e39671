import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordedEventList, RecordedRange } from '@eyrie/contract'
import { toIsoTime } from '../../runtime/clock.ts'
import { createClip } from '../format/clip.ts'
import { toMetadataPath } from '../format/metadata-lines.ts'
import { readSegment, type SegmentContent } from '../format/segment-format.ts'
import type { RecordingIndex, SegmentRow } from './recording-index.ts'
import { type MetadataQuery, readSegmentMetadata } from './segment-metadata.ts'

/** A recorded segment with the absolute path of its file. */
export interface RecordedSegment extends SegmentRow {
  path: string
}

export interface ArchiveQueriesOptions {
  /** The folder of the recordings. */
  folder: string
  index: RecordingIndex
  /** Returns a segment with its current end and size, which the index lacks while it is open. */
  withGrowth(row: SegmentRow): SegmentRow
}

/** Selects the analysis results of one segment. */
export interface SegmentMetadataRequest
  extends Pick<MetadataQuery, 'fromUs' | 'toUs' | 'position' | 'channels'> {
  segment: RecordedSegment
}

/**
 * Times in the API are rounded to milliseconds. A query from the beginning of a range must not
 * include the segment before it.
 */
const ROUNDING_US = 1000
/**
 * The end of a segment is estimated from the duration of its last picture, and capture times are
 * corrected while a camera's clock is being measured. Both may extend a segment beyond the
 * beginning of the next one, by less than this.
 */
const MAX_OVERLAP_US = 1_000_000
/** Segments with a shorter gap between them belong to one range. */
const GAP_US = 2_000_000
/** Maximum number of events in a response. */
const MAX_EVENTS = 10_000

/** Creates the read-only methods of the archive. Their times are in µs since 1970. */
export function createArchiveQueries({ folder, index, withGrowth }: ArchiveQueriesOptions) {
  /** Returns the segments that overlap this time, oldest first. */
  function findSegments(source: number, fromUs: number, toUs: number): RecordedSegment[] {
    const overlapping = index
      .findSegments(source, fromUs, toUs)
      .map(row => ({ ...withGrowth(row), path: join(folder, row.file) }))
      .filter(({ bytes, endUs }) => bytes > 0 && endUs - fromUs >= ROUNDING_US)
    return omitSupersededFirst(overlapping, fromUs)
  }

  return {
    listSources: index.listSources,
    findSegments,
    /**
     * Returns the capture times of the first and last picture; undefined if nothing is recorded.
     */
    findExtent(source: number): { first: string; last: string } | undefined {
      const rows = index.findFirstAndLast(source)
      if (!rows) return undefined
      const [first, last] = rows
      return { first: toIsoTime(first.beginUs), last: toIsoTime(withGrowth(last).endUs) }
    },
    /** Returns the path of a segment by its file name; undefined if no such segment is indexed. */
    findPath(source: number, name: string): string | undefined {
      const file = `${source}/${name}`
      return index.hasFile(source, file) ? join(folder, file) : undefined
    },
    /** Returns the recorded time ranges that overlap this time. */
    listRanges(source: number, fromUs: number, toUs: number): RecordedRange[] {
      const rows = index.findSegments(source, fromUs, toUs).map(withGrowth)
      return toRanges(rows.filter(({ bytes }) => bytes > 0))
    },

    /** Returns the events of these channels; without `channels`, of all channels. */
    listEvents(
      source: number,
      fromUs: number,
      toUs: number,
      channels?: readonly number[],
    ): RecordedEventList {
      // One event more than the response may contain shows whether there are more.
      const rows = index.findEvents(source, { fromUs, toUs, channels, max: MAX_EVENTS + 1 })
      const events = rows.slice(0, MAX_EVENTS).map(({ timeUs, data, ...event }) => ({
        ...event,
        time: toIsoTime(timeUs),
        data: JSON.parse(data),
      }))
      return { events, more: rows.length > MAX_EVENTS }
    },

    /** Reads a segment by its path; undefined if the file has been deleted meanwhile. */
    readSegment: (path: string): SegmentContent | undefined =>
      existsSync(path) ? readSegment(path) : undefined,
    createClip: (source: number, fromUs: number, toUs: number) =>
      createClip(findSegments(source, fromUs, toUs), fromUs, toUs),
    /** Returns the metadata of a segment as JSON lines, and the playback position after it. */
    readMetadata({ segment, ...query }: SegmentMetadataRequest) {
      // Results that arrived late are in the metadata file of the next segment.
      const next = index.findNextSegment(segment.source, segment.beginUs)
      const files = next ? [segment.file, next.file] : [segment.file]
      const metadataFiles = files.map(file => toMetadataPath(join(folder, file)))
      return readSegmentMetadata({ ...query, segment: segment.path, metadataFiles })
    },
  }
}

/**
 * Omits the first segment if it only extends slightly into the second one, which has begun by
 * `fromUs`. A query from the beginning of a range must not return the segment before it,
 * whose format may differ.
 */
function omitSupersededFirst<Row extends SegmentRow>(rows: readonly Row[], fromUs: number): Row[] {
  const [first, second, ...others] = rows
  if (!first || !second) return [...rows]

  const hasSecondBegun = second.beginUs - fromUs < ROUNDING_US
  const overlapUs = first.endUs - second.beginUs
  const isSuperseded = hasSecondBegun && overlapUs < MAX_OVERLAP_US
  return isSuperseded ? [second, ...others] : [...rows]
}

/** Joins consecutive segments with the same format into ranges. */
function toRanges(rows: readonly SegmentRow[]): RecordedRange[] {
  const ranges: (RecordedRange & { endUs: number })[] = []
  for (const { beginUs, endUs, bytes, codecs, width, height } of rows) {
    const last = ranges.at(-1)
    const to = toIsoTime(endUs)
    const isSameFormat = last?.codecs === codecs && last.width === width && last.height === height

    if (last && isSameFormat && Math.abs(beginUs - last.endUs) < GAP_US) {
      last.to = to
      last.endUs = endUs
      last.bytes += bytes
    } else {
      ranges.push({ from: toIsoTime(beginUs), to, bytes, codecs, width, height, endUs })
    }
  }
  return ranges.map(({ endUs: _, ...range }) => range)
}
