import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { IndexedEvent } from '../format/metadata-lines.ts'

/** What the index knows of a file. */
export interface SegmentRow {
  id: number
  source: number
  /** Relative to the folder of the recordings. */
  file: string
  epoch: number
  /** When the first picture was taken and the last one was over, µs since 1970. */
  beginUs: number
  endUs: number
  /** With what was found in its pictures. */
  bytes: number
  codecs: string
  width: number
  height: number
  /** Being written. */
  open: number
}

/** How long, and how much, is kept of a source. */
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

/** The index of recordings. Whatever it says can be read from the files again. */
export interface RecordingIndex {
  insert(row: Omit<SegmentRow, 'id'>): number
  update(id: number, change: Pick<SegmentRow, 'endUs' | 'bytes' | 'open'>): void
  /** With its events. */
  remove(id: number): void
  /** What has happened while this file was written. */
  addEvent(id: number, event: IndexedEvent): void
  /** The oldest first. */
  findEvents(source: number, fromUs: number, toUs: number, most: number): (IndexedEvent & { epoch: number })[]
  /** Those that have something of this time, the oldest first. */
  findSegments(source: number, fromUs: number, toUs: number): SegmentRow[]
  /** The first of this source that begins after this time. */
  findNextSegment(source: number, beginUs: number): SegmentRow | undefined
  hasFile(source: number, file: string): boolean
  /** The file that begins first, and the one that begins last. */
  findFirstAndLast(source: number): [SegmentRow, SegmentRow] | undefined
  findOldest(source?: number): SegmentRow | undefined
  findEndedBefore(source: number, endUs: number): SegmentRow[]
  listSources(): number[]
  listFiles(): Map<string, SegmentRow>
  sumBytes(source: number): number
  setPolicy(source: number, policy: RetentionPolicy): void
  listPolicies(): (RetentionPolicy & { source: number })[]
  close(): void
}

/** Throws where the file is damaged. */
export function openRecordingIndex(path: string): RecordingIndex {
  const database = new DatabaseSync(path)
  const statements = new Map<string, StatementSync>()
  const sql = (text: string) => {
    const known = statements.get(text) ?? database.prepare(text)
    statements.set(text, known)
    return known
  }
  const rows = (text: string, ...values: (number | string)[]) =>
    sql(text).all(...values) as unknown as SegmentRow[]

  database.exec('PRAGMA busy_timeout = 5000')
  const [check] = database.prepare('PRAGMA quick_check(1)').all() as { quick_check: string }[]
  if (check?.quick_check !== 'ok') throw new Error(`the index is damaged: ${check?.quick_check}`)
  database.exec(schema)

  return {
    insert({ source, file, epoch, beginUs, endUs, bytes, codecs, width, height, open }) {
      const values = [source, file, epoch, beginUs, endUs, bytes, codecs, width, height, open]
      const columns = 'source, file, epoch, beginUs, endUs, bytes, codecs, width, height, open'
      const insert = sql(`INSERT INTO segments (${columns}) VALUES (${values.map(() => '?').join(', ')})`)
      return Number(insert.run(...values).lastInsertRowid)
    },
    update(id, { endUs, bytes, open }) {
      sql('UPDATE segments SET endUs = ?, bytes = ?, open = ? WHERE id = ?').run(endUs, bytes, open, id)
    },
    remove: id => {
      sql('DELETE FROM events WHERE segment = ?').run(id)
      sql('DELETE FROM segments WHERE id = ?').run(id)
    },
    addEvent(id, { channel, pts, timeUs, data }) {
      const insert =
        'INSERT INTO events (segment, source, epoch, timeUs, pts, channel, data) SELECT id, source, epoch, ?, ?, ?, ? FROM segments WHERE id = ?'
      sql(insert).run(timeUs, pts, channel, data, id)
    },
    findEvents: (source, fromUs, toUs, most) =>
      sql(
        'SELECT epoch, timeUs, pts, channel, data FROM events WHERE source = ? AND timeUs >= ? AND timeUs < ? ORDER BY timeUs, rowid LIMIT ?',
      ).all(source, fromUs, toUs, most) as unknown as (IndexedEvent & { epoch: number })[],
    findSegments: (source, fromUs, toUs) =>
      rows(
        'SELECT * FROM segments WHERE source = ? AND beginUs < ? AND (endUs > ? OR open = 1) ORDER BY beginUs, id',
        source,
        toUs,
        fromUs,
      ),
    findNextSegment: (source, beginUs) =>
      rows(
        'SELECT * FROM segments WHERE source = ? AND beginUs > ? ORDER BY beginUs LIMIT 1',
        source,
        beginUs,
      )[0],
    hasFile: (source, file) =>
      rows('SELECT * FROM segments WHERE source = ? AND file = ?', source, file).length > 0,
    findFirstAndLast(source) {
      const [first] = rows('SELECT * FROM segments WHERE source = ? ORDER BY beginUs LIMIT 1', source)
      const [last] = rows('SELECT * FROM segments WHERE source = ? ORDER BY beginUs DESC LIMIT 1', source)
      return first && last && [first, last]
    },
    findOldest: source =>
      source === undefined
        ? rows('SELECT * FROM segments WHERE open = 0 ORDER BY endUs LIMIT 1')[0]
        : rows('SELECT * FROM segments WHERE open = 0 AND source = ? ORDER BY endUs LIMIT 1', source)[0],
    findEndedBefore: (source, endUs) =>
      rows('SELECT * FROM segments WHERE source = ? AND open = 0 AND endUs < ?', source, endUs),
    listSources: () =>
      rows('SELECT DISTINCT source FROM segments ORDER BY source').map(({ source }) => source),
    listFiles: () => new Map(rows('SELECT * FROM segments').map(row => [row.file, row])),
    sumBytes: source => {
      const sum = sql('SELECT COALESCE(SUM(bytes), 0) AS bytes FROM segments WHERE source = ?').get(source)
      return Number(sum?.bytes)
    },
    setPolicy(source, { keep_s, keep_bytes }) {
      const put = 'INSERT OR REPLACE INTO policies (source, keep_s, keep_bytes) VALUES (?, ?, ?)'
      sql(put).run(source, keep_s ?? null, keep_bytes ?? null)
    },
    listPolicies: () =>
      (
        sql('SELECT * FROM policies').all() as {
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
