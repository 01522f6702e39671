import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { IndexedEvent } from '../format/metadata-lines.ts'

/**
 * A segment in the recording index: one MP4 file with a few minutes of a source. Recordings
 * consist of segments.
 */
export interface SegmentRow {
  id: number
  source: number
  /** Path relative to the recordings folder. */
  file: string
  /**
   * Start of the media service that recorded it. Stream times of different epochs are not
   * comparable.
   */
  epoch: number
  /** Capture time of the first picture and end of the last one, µs since 1970. */
  beginUs: number
  endUs: number
  /** Size of the segment file and its metadata file. */
  bytes: number
  codecs: string
  width: number
  height: number
  /** 1 while the file is being written. */
  open: number
}

/** Limits of a source's recordings: maximum age in seconds, and maximum size. */
export interface RetentionPolicy {
  keep_s?: number | undefined
  keep_bytes?: number | undefined
}

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS segments (
    id INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    file TEXT NOT NULL UNIQUE,
    epoch INTEGER NOT NULL,
    beginUs INTEGER NOT NULL,
    endUs INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    codecs TEXT NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    open INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS of_source ON segments (source, beginUs);
  CREATE INDEX IF NOT EXISTS by_end ON segments (open, endUs);
  CREATE TABLE IF NOT EXISTS events (
    segment INTEGER NOT NULL,
    source INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    timeUs INTEGER NOT NULL,
    pts INTEGER NOT NULL,
    channel INTEGER NOT NULL,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS events_of_source ON events (source, timeUs);
  CREATE INDEX IF NOT EXISTS events_of_segment ON events (segment);
  CREATE TABLE IF NOT EXISTS policies (
    source INTEGER PRIMARY KEY,
    keep_s INTEGER,
    keep_bytes INTEGER
  ) STRICT;
`

/**
 * Limit of the times in the index, in µs since 1970: in the year 2223. SQLite stores greater
 * numbers, but rows with numbers that are not exact in JavaScript, from the year 2255, cannot be
 * read.
 */
export const MAX_TIME_US = 8e15
/** Time to wait for a lock that another process holds on the database. */
const BUSY_TIMEOUT_MS = 5000
/** Result code of SQLite when the lock has not been released in this time. */
const SQLITE_BUSY = 5
/** Result code of SQLite when the disk is full. */
const SQLITE_FULL = 13

interface PolicyRow {
  source: number
  keep_s: number | null
  keep_bytes: number | null
}

interface EventSelection {
  fromUs: number
  /** Exclusive. */
  toUs: number
  /** Undefined: all channels. */
  channels: readonly number[] | undefined
  max: number
}

/** SQLite index of the segment files and their events. It can be rebuilt from the files. */
export interface RecordingIndex {
  insert(row: Omit<SegmentRow, 'id'>): number
  update(id: number, change: Pick<SegmentRow, 'endUs' | 'bytes' | 'open'>): void
  /** Removes a segment and its events. */
  remove(id: number): void
  /** Adds an event that occurred while this segment was written. */
  addEvent(id: number, event: IndexedEvent): void
  /** Returns at most `max` events, oldest first. */
  findEvents(source: number, selection: EventSelection): (IndexedEvent & { epoch: number })[]
  /** Returns the segments that overlap this time, oldest first. */
  findSegments(source: number, fromUs: number, toUs: number): SegmentRow[]
  /** Returns the first segment that begins after this time. */
  findNextSegment(source: number, beginUs: number): SegmentRow | undefined
  hasFile(source: number, file: string): boolean
  /** Returns the segments that begin first and last. */
  findFirstAndLast(source: number): [SegmentRow, SegmentRow] | undefined
  /**
   * Returns the closed segment that follows in the order of ends, then ids, and ends by `untilUs`.
   * Without `source`, of all sources.
   */
  findNextEnded(
    previous: Pick<SegmentRow, 'endUs' | 'id'>,
    untilUs: number,
    source?: number,
  ): SegmentRow | undefined
  /**
   * Returns the closed segment that follows in the order of ids, in which segments are written, and
   * ends after `afterUs`. Without `source`, of all sources.
   */
  findNextWritten(previousId: number, afterUs: number, source?: number): SegmentRow | undefined
  /** Returns the closed segments that were written before this one, but end after `afterUs`. */
  findWrittenBefore(source: number, id: number, afterUs: number): SegmentRow[]
  /** Returns the closed segments that ended before this time. */
  findEndedBefore(source: number, endUs: number): SegmentRow[]
  listSources(): number[]
  /** Returns all segments by file path. */
  listFiles(): Map<string, SegmentRow>
  sumBytes(source: number): number
  setPolicy(source: number, policy: RetentionPolicy): void
  listPolicies(): (RetentionPolicy & { source: number })[]
  close(): void
}

/** Returns whether an error of the index means that another process has locked it. */
export const isLockedError = (error: unknown): boolean => getResultCode(error) === SQLITE_BUSY

/** Returns whether an error of the index or of the file system means that the disk is full. */
export const isDiskFullError = (error: unknown): boolean =>
  getResultCode(error) === SQLITE_FULL || (error as NodeJS.ErrnoException).code === 'ENOSPC'

/** Returns the primary result code, which is the lowest byte of an extended one. */
const getResultCode = (error: unknown): number =>
  ((error as { errcode?: number }).errcode ?? 0) % 256

/** Opens or creates the database. Throws if it is damaged or locked. */
function openDatabase(path: string): DatabaseSync {
  const database = new DatabaseSync(path)
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`)
    const [check] = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[]
    if (check?.quick_check !== 'ok') {
      throw new Error(`the recording index is damaged: ${check?.quick_check}`)
    }
    database.exec(SCHEMA)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Returns the end of a condition that selects one source; all sources without it. */
const matchSource = (source?: number): { condition: string; values: number[] } =>
  source === undefined
    ? { condition: '', values: [] }
    : { condition: 'AND source = ?', values: [source] }

/**
 * Opens or creates the index. Throws if the database is damaged, if it is locked (`isLockedError`),
 * or if the disk is full (`isDiskFullError`).
 */
export function openRecordingIndex(path: string): RecordingIndex {
  const database = openDatabase(path)
  const statements = new Map<string, StatementSync>()

  /** Prepares each statement once. */
  function prepare(sql: string): StatementSync {
    const statement = statements.get(sql) ?? database.prepare(sql)
    statements.set(sql, statement)
    return statement
  }

  function selectSegments(sql: string, ...values: (number | string)[]): SegmentRow[] {
    return prepare(sql).all(...values) as unknown as SegmentRow[]
  }

  return {
    insert({ source, file, epoch, beginUs, endUs, bytes, codecs, width, height, open }) {
      const values = [source, file, epoch, beginUs, endUs, bytes, codecs, width, height, open]
      const columns = 'source, file, epoch, beginUs, endUs, bytes, codecs, width, height, open'
      const placeholders = values.map(() => '?').join(', ')
      const insert = prepare(`INSERT INTO segments (${columns}) VALUES (${placeholders})`)
      return Number(insert.run(...values).lastInsertRowid)
    },
    update(id, { endUs, bytes, open }) {
      prepare('UPDATE segments SET endUs = ?, bytes = ?, open = ? WHERE id = ?').run(
        endUs,
        bytes,
        open,
        id,
      )
    },
    remove(id) {
      prepare('DELETE FROM events WHERE segment = ?').run(id)
      prepare('DELETE FROM segments WHERE id = ?').run(id)
    },
    addEvent(id, { channel, pts, timeUs, data }) {
      // An event has the source and epoch of its segment.
      const insert = `
        INSERT INTO events (segment, source, epoch, timeUs, pts, channel, data)
        SELECT id, source, epoch, ?, ?, ?, ?
        FROM segments
        WHERE id = ?`
      prepare(insert).run(timeUs, pts, channel, data, id)
    },
    findEvents(source, { fromUs, toUs, channels, max }) {
      const select = `
        SELECT epoch, timeUs, pts, channel, data
        FROM events
        WHERE source = :source
          AND timeUs >= :fromUs
          AND timeUs < :toUs
          AND (:channels IS NULL OR channel IN (SELECT value FROM json_each(:channels)))
        ORDER BY timeUs, rowid
        LIMIT :max`
      const rows = prepare(select).all({
        source,
        fromUs,
        toUs,
        channels: channels ? JSON.stringify(channels) : null,
        max,
      })
      return rows as unknown as (IndexedEvent & { epoch: number })[]
    },
    findSegments: (source, fromUs, toUs) =>
      selectSegments(
        // The end of an open segment is not stored yet.
        `SELECT * FROM segments
         WHERE source = ? AND beginUs < ? AND (endUs > ? OR open = 1)
         ORDER BY beginUs, id`,
        source,
        toUs,
        fromUs,
      ),
    findNextSegment: (source, beginUs) =>
      selectSegments(
        'SELECT * FROM segments WHERE source = ? AND beginUs > ? ORDER BY beginUs LIMIT 1',
        source,
        beginUs,
      )[0],
    hasFile: (source, file) =>
      selectSegments('SELECT * FROM segments WHERE source = ? AND file = ?', source, file).length >
      0,
    findFirstAndLast(source) {
      const [first] = selectSegments(
        'SELECT * FROM segments WHERE source = ? ORDER BY beginUs LIMIT 1',
        source,
      )
      const [last] = selectSegments(
        'SELECT * FROM segments WHERE source = ? ORDER BY beginUs DESC LIMIT 1',
        source,
      )
      return first && last && [first, last]
    },
    findNextEnded(previous, untilUs, source) {
      const { condition, values } = matchSource(source)
      const select = `
        SELECT * FROM segments
        WHERE open = 0 AND (endUs, id) > (?, ?) AND endUs <= ? ${condition}
        ORDER BY endUs, id LIMIT 1`
      return selectSegments(select, previous.endUs, previous.id, untilUs, ...values)[0]
    },
    findNextWritten(previousId, afterUs, source) {
      const { condition, values } = matchSource(source)
      const select = `
        SELECT * FROM segments
        WHERE open = 0 AND endUs > ? AND id > ? ${condition}
        ORDER BY id LIMIT 1`
      return selectSegments(select, afterUs, previousId, ...values)[0]
    },
    findWrittenBefore: (source, id, afterUs) =>
      selectSegments(
        'SELECT * FROM segments WHERE open = 0 AND endUs > ? AND source = ? AND id < ?',
        afterUs,
        source,
        id,
      ),
    findEndedBefore: (source, endUs) =>
      selectSegments(
        'SELECT * FROM segments WHERE source = ? AND open = 0 AND endUs < ?',
        source,
        endUs,
      ),
    listSources: () =>
      selectSegments('SELECT DISTINCT source FROM segments ORDER BY source').map(
        ({ source }) => source,
      ),
    listFiles: () => new Map(selectSegments('SELECT * FROM segments').map(row => [row.file, row])),
    sumBytes(source) {
      const select = 'SELECT COALESCE(SUM(bytes), 0) AS bytes FROM segments WHERE source = ?'
      const sum = prepare(select).get(source)
      return Number(sum?.bytes)
    },
    setPolicy(source, { keep_s: keepS, keep_bytes: keepBytes }) {
      const upsert = 'INSERT OR REPLACE INTO policies (source, keep_s, keep_bytes) VALUES (?, ?, ?)'
      prepare(upsert).run(source, keepS ?? null, keepBytes ?? null)
    },
    listPolicies() {
      const rows = prepare('SELECT * FROM policies').all() as unknown as PolicyRow[]
      return rows.map(({ source, keep_s: keepS, keep_bytes: keepBytes }) => ({
        source,
        keep_s: keepS ?? undefined,
        keep_bytes: keepBytes ?? undefined,
      }))
    },
    close: () => database.close(),
  }
}
