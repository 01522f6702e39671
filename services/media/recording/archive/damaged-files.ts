import { type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { toMetadataPath } from '../format/metadata-lines.ts'
import type { RecordingIndex, SegmentRow } from './recording-index.ts'

// A damaged file cannot be indexed, and is neither listed nor played. It must not occupy the disk
// for ever: it counts as a segment for retention and for deletion.

/** A file to which nothing more is written. It has an `id` if it is in the index. */
export type StoredFile = Pick<SegmentRow, 'source' | 'file' | 'beginUs' | 'endUs' | 'bytes'> & {
  id?: number
}

/**
 * A segment that ends further in the future was recorded while the clock was wrong. Its place among
 * the others is that in the order of writing, because its time is of no use. Smaller errors only
 * delay its deletion.
 */
const MAX_LEAD_US = 86_400e6

/** Describes a file, whose content cannot be read, by its name and its time of modification. */
export function describeDamagedFile(folder: string, file: string): StoredFile {
  const path = join(folder, file)
  const stats = tryStat(path)
  const modifiedUs = Math.round((stats?.mtimeMs ?? 0) * 1000)
  const beginUs = parseFileTime(file) ?? modifiedUs
  return {
    source: Number.parseInt(file, 10),
    file,
    beginUs,
    endUs: Math.max(beginUs, modifiedUs),
    bytes: (stats?.size ?? 0) + (tryStat(toMetadataPath(path))?.size ?? 0),
  }
}

/** Finds closed segments and damaged files. `damagedFiles` has them by their path. */
export function createFileQueries(
  index: RecordingIndex,
  damagedFiles: ReadonlyMap<string, StoredFile>,
) {
  const findDamaged = (source: number | undefined): StoredFile[] =>
    [...damagedFiles.values()].filter(file => source === undefined || file.source === source)

  return {
    findOverlapping(source: number, fromUs: number, toUs: number): StoredFile[] {
      const closed = index.findSegments(source, fromUs, toUs).filter(({ open }) => open === 0)
      const damaged = findDamaged(source).filter(
        ({ beginUs, endUs }) => beginUs < toUs && endUs > fromUs,
      )
      return [...closed, ...damaged]
    },
    /**
     * Returns the files that ended before `expiryUs`. A segment of a wrong clock expires with a
     * segment that was written after it.
     */
    findExpired(source: number, expiryUs: number, nowUs: number): StoredFile[] {
      const ended = index.findEndedBefore(source, expiryUs)
      const lastId = ended.reduce((last, { id }) => Math.max(last, id), 0)
      return [
        ...ended,
        ...index.findWrittenBefore(source, lastId, nowUs + MAX_LEAD_US),
        ...findDamaged(source).filter(({ endUs }) => endUs < expiryUs),
      ]
    },
    /**
     * Yields the files of one source or of all sources, the one that ended first before the others.
     * A segment of a wrong clock comes before the segments that were written after it. A file may
     * be deleted after it was yielded.
     */
    *listOldestFirst(nowUs: number, source?: number): Generator<StoredFile> {
      const damaged = findDamaged(source).sort((a, b) => a.endUs - b.endUs)
      const latestUs = nowUs + MAX_LEAD_US
      let lastEnded = { endUs: Number.MIN_SAFE_INTEGER, id: 0 }
      let lastFutureId = 0
      for (;;) {
        const ended = index.findNextEnded(lastEnded, latestUs, source)
        const future = index.findNextWritten(lastFutureId, latestUs, source)
        const isFutureFirst = future !== undefined && (!ended || future.id < ended.id)
        const segment = isFutureFirst ? future : ended
        const [oldestDamaged] = damaged
        if (oldestDamaged && (!segment || oldestDamaged.endUs < segment.endUs)) {
          damaged.shift()
          yield oldestDamaged
        } else if (segment) {
          if (isFutureFirst) lastFutureId = segment.id
          else lastEnded = segment
          yield segment
        } else return
      }
    },
    /** Returns the size of all files of a source, including open ones. */
    sumBytes: (source: number): number =>
      findDamaged(source).reduce((sum, { bytes }) => sum + bytes, index.sumBytes(source)),
  }
}

/** Returns the time in a name such as `7/2026-01-31T12-00-00.000Z.mp4`, in µs since 1970. */
function parseFileTime(file: string): number | undefined {
  const [, date, time = ''] = /^\d+\/(\d{4}-\d\d-\d\d)T([\d.-]{12}Z)/.exec(file) ?? []
  const ms = Date.parse(`${date}T${time.replaceAll('-', ':')}`)
  return Number.isNaN(ms) ? undefined : ms * 1000
}

function tryStat(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}
