import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { IndexedEvent } from '../format/metadata-lines.ts'

/** A segment file in the index. */
export interface SegmentRow {
  id: number
  source: number
  /** Path relative to the recordings folder. */
  file: string
  epoch: number
  /** Capture time of the first picture and end of the last one, µs since 1970. */
  beginUs: number
  endUs: number
  /** Including the metadata file. */
  bytes: number
  codecs: string
  width: number
  height: number
  /** 1 while the file is being written. */
  open: number
}

/** Limits of a source's recordings: age in seconds, and size. */
export interface RetentionPolicy {
  keep_s?: number | undefined
  keep_bytes?: number | undefined
}

const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS segments (
    id INTEGER PRIMARY KEY, source INTEGER NOT NULL, file TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL,
    beginUs INTEGER NOT NULL, endUs INTEGER NOT NULL, bytes INTEGER NOT NULL,
    codecs TEXT NOT NULL, width INTEGER NOT NULL, height INTEGER NOT NULL, open INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS of_source ON segments (source, beginUs);
  CREATE INDEX IF NOT EXISTS by_end ON segments (open, endUs);
  CREATE TABLE IF NOT EXISTS events (
    segment INTEGER NOT NULL, source INTEGER NOT NULL, epoch INTEGER NOT NULL, timeUs INTEGER NOT NULL,
    pts INTEGER NOT NULL, channel INTEGER NOT NULL, data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS events_of_source ON events (source, timeUs);
  CREATE INDEX IF NOT EXISTS events_of_segment ON events (segment);
  CREATE TABLE IF NOT EXISTS policies (source INTEGER PRIMARY KEY, keep_s INTEGER, keep_bytes INTEGER) STRICT;
`

/** SQLite index of the segment files, from which it can be rebuilt. */
export interface RecordingIndex {
  insert(row: Omit<SegmentRow, 'id'>): number
  update(id: number, change: Pick<SegmentRow, 'endUs' | 'bytes' | 'open'>): void
  /** Also removes its events. */
  remove(id: number): void
  /** Adds an event that occurred while this segment was written. */
  addEvent(id: number, event: IndexedEvent): void
  /** Oldest first, limited to `max`. */
  findEvents(source: number, fromUs: number, toUs: number, max: number): (IndexedEvent & { epoch: number })[]
  /** Segments that overlap this time, oldest first. */
  findSegments(source: number, fromUs: number, toUs: number): SegmentRow[]
  /** The first segment that begins after this time. */
  findNextSegment(source: number, beginUs: number): SegmentRow | undefined
  hasFile(source: number, file: string): boolean
  /** The segments that begin first and last. */
  findFirstAndLast(source: number): [SegmentRow, SegmentRow] | undefined
  /** The closed segment that ended first, of one source or of all. */
  findOldest(source?: number): SegmentRow | undefined
  /** Closed segments. */
  findEndedBefore(source: number, endUs: number): SegmentRow[]
  listSources(): number[]
  /** All segments by file path. */
  listFiles(): Map<string, SegmentRow>
  sumBytes(source: number): number
  setPolicy(source: number, policy: RetentionPolicy): void
  listPolicies(): (RetentionPolicy & { source: number })[]
  close(): void
}

/** Throws if the database is damaged. */
export function openRecordingIndex(path: string): RecordingIndex {
  const database = new DatabaseSync(path)
  const statements = new Map<string, StatementSync>()
  const prepare = (text: string) => {
    const statement = statements.get(text) ?? database.prepare(text)
    statements.set(text, statement)
    return statement
  }
  const selectSegments = (text: string, ...values: (number | string)[]) =>
    prepare(text).all(...values) as unknown as SegmentRow[]

  database.exec('PRAGMA busy_timeout = 5000')
  const [check] = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[]
  if (check?.quick_check !== 'ok') throw new Error(`the recording index is damaged: ${check?.quick_check}`)
  database.exec(schema)

  return {
    insert({ source, file, epoch, beginUs, endUs, bytes, codecs, width, height, open }) {
      const values = [source, file, epoch, beginUs, endUs, bytes, codecs, width, height, open]
      const columns = 'source, file, epoch, beginUs, endUs, bytes, codecs, width, height, open'
      const insert = prepare(`INSERT INTO segments (${columns}) VALUES (${values.map(() => '?').join(', ')})`)
      return Number(insert.run(...values).lastInsertRowid)
    },
    update(id, { endUs, bytes, open }) {
      prepare('UPDATE segments SET endUs = ?, bytes = ?, open = ? WHERE id = ?').run(endUs, bytes, open, id)
    },
    remove: id => {
      prepare('DELETE FROM events WHERE segment = ?').run(id)
      prepare('DELETE FROM segments WHERE id = ?').run(id)
    },
    addEvent(id, { channel, pts, timeUs, data }) {
      const insert =
        'INSERT INTO events (segment, source, epoch, timeUs, pts, channel, data) SELECT id, source, epoch, ?, ?, ?, ? FROM segments WHERE id = ?'
      prepare(insert).run(timeUs, pts, channel, data, id)
    },
    findEvents: (source, fromUs, toUs, max) =>
      prepare(
        'SELECT epoch, timeUs, pts, channel, data FROM events WHERE source = ? AND timeUs >= ? AND timeUs < ? ORDER BY timeUs, rowid LIMIT ?',
      ).all(source, fromUs, toUs, max) as unknown as (IndexedEvent & { epoch: number })[],
    findSegments: (source, fromUs, toUs) =>
      selectSegments(
        'SELECT * FROM segments WHERE source = ? AND beginUs < ? AND (endUs > ? OR open = 1) ORDER BY beginUs, id',
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
      selectSegments('SELECT * FROM segments WHERE source = ? AND file = ?', source, file).length > 0,
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
    findOldest: source =>
      source === undefined
        ? selectSegments('SELECT * FROM segments WHERE open = 0 ORDER BY endUs LIMIT 1')[0]
        : selectSegments(
            'SELECT * FROM segments WHERE open = 0 AND source = ? ORDER BY endUs LIMIT 1',
            source,
          )[0],
    findEndedBefore: (source, endUs) =>
      selectSegments('SELECT * FROM segments WHERE source = ? AND open = 0 AND endUs < ?', source, endUs),
    listSources: () =>
      selectSegments('SELECT DISTINCT source FROM segments ORDER BY source').map(({ source }) => source),
    listFiles: () => new Map(selectSegments('SELECT * FROM segments').map(row => [row.file, row])),
    sumBytes: source => {
      const sum = prepare('SELECT COALESCE(SUM(bytes), 0) AS bytes FROM segments WHERE source = ?').get(
        source,
      )
      return Number(sum?.bytes)
    },
    setPolicy(source, { keep_s, keep_bytes }) {
      const upsert = 'INSERT OR REPLACE INTO policies (source, keep_s, keep_bytes) VALUES (?, ?, ?)'
      prepare(upsert).run(source, keep_s ?? null, keep_bytes ?? null)
    },
    listPolicies: () =>
      (
        prepare('SELECT * FROM policies').all() as {
          source: number
          keep_s: number | null
          keep_bytes: number | null
        }[]
      ).map(({ source, keep_s, keep_bytes }) => ({
        source,
        keep_s: keep_s ?? undefined,
        keep_bytes: keep_bytes ?? undefined,
      })),
    close: () => database.close(),
  }
}
