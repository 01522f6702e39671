import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { createClip } from '../format/clip.ts'
import { toEventEntry } from '../format/metadata-lines.ts'
import { TIMELINE_START } from '../format/playback-timeline.ts'
import { createSegmentHeader, readSegment } from '../format/segment-format.ts'
import {
  createInfo,
  damageFile,
  HOUR_US,
  NOON_US,
  open,
  track,
  UNIT_BYTES,
  write,
} from './recording-archive.fixture.ts'
import { createArchive } from './recording-archive.ts'
import { openArchive } from './remote-archive.ts'
import { describeFullDisk } from './retention.ts'

/** Bytes of a `moof` up to its first track: its own header, and the box `mfhd`. */
const MOOF_START_BYTES = 24

const listRanges = (archive: ReturnType<typeof open>, source = 1) =>
  archive
    .listRanges(source, 0, Number.MAX_SAFE_INTEGER)
    .map(({ from, to }) => `${from.slice(11, 19)}-${to.slice(11, 19)}`)

describe('recording archive', () => {
  it('lists contiguous segments as one range', () => {
    const archive = open(createTemporaryFolder())
    for (const minute of [0, 1, 2, 5, 6]) write(archive, 1, NOON_US + minute * 60e6)
    write(archive, 2, NOON_US)
    expect(listRanges(archive)).toEqual(['12:00:00-12:03:00', '12:05:00-12:07:00'])
    expect(archive.listSources()).toEqual([1, 2])
    const later = archive.findSegments(1, NOON_US + 330e6, NOON_US + 350e6)
    expect(later.map(({ beginUs }) => beginUs)).toEqual([NOON_US + 300e6])
  })

  it('has correct capture times across the NTP era of 2036', () => {
    const archive = open(createTemporaryFolder())
    const before2036 = Date.UTC(2036, 1, 7, 6, 28, 14) * 1000
    const { path } = write(archive, 1, before2036, { seconds: 4 })
    expect(readSegment(path)?.fragments.map(({ timeUs }) => timeUs - before2036)).toEqual([
      0, 1e6, 2e6, 3e6,
    ])
  })

  it('stores capture times before 1968 as the earliest time that a segment can contain', () => {
    const archive = open(createTemporaryFolder())
    const { path } = write(archive, 1, Date.UTC(1850, 0, 1) * 1000, { seconds: 1 })
    const [fragment] = readSegment(path)!.fragments
    expect(new Date(fragment!.timeUs / 1000).toISOString()).toBe('1968-01-20T03:14:08.000Z')
  })

  it('returns no metadata for a segment without fragments', () => {
    const archive = open(createTemporaryFolder())
    const { id, path } = archive.beginSegment(createInfo(1), NOON_US)
    writeFileSync(path, createSegmentHeader(createInfo(1), track))
    const line = JSON.stringify({ channel: 1, pts: 9000, objects: [], counters: {} })
    writeFileSync(path.replace(/mp4$/, 'jsonl'), `${line}\n`)
    archive.growSegment(id, { endUs: NOON_US + 1e6, bytes: 1000 })
    const range = { fromUs: NOON_US, toUs: NOON_US + 1e6 }
    const [segment] = archive.findSegments(1, range.fromUs, range.toUs)
    const query = { segment: segment!, ...range, position: TIMELINE_START, channels: undefined }
    expect(archive.readMetadata(query).text).toBe('')
  })

  it('excludes the previous segment from a query that starts at a rounded time', () => {
    const archive = open(createTemporaryFolder())
    write(archive, 1, NOON_US, { seconds: 10 })
    write(archive, 1, NOON_US + 10e6 + 700, { seconds: 10 })
    write(archive, 1, NOON_US + 60e6 + 900, { seconds: 10 })
    const begin = Date.parse(archive.listRanges(1, 0, Number.MAX_SAFE_INTEGER)[1]!.from) * 1000
    const from = (us: number) => archive.findSegments(1, us, Number.MAX_SAFE_INTEGER).length
    expect([
      begin - NOON_US,
      from(begin),
      from(NOON_US + 10e6),
      from(NOON_US + 10e6 - 1000),
    ]).toEqual([60e6, 1, 2, 3])
  })

  it('excludes the previous segment when its estimated end overlaps the beginning of the next one', () => {
    const archive = open(createTemporaryFolder())
    write(archive, 1, NOON_US, { seconds: 10 })
    const beginUs = NOON_US + 9.96e6
    write(archive, 1, beginUs, { seconds: 10 })
    const beginsFrom = (us: number) =>
      archive.findSegments(1, us, Number.MAX_SAFE_INTEGER).map(segment => segment.beginUs - NOON_US)
    expect(beginsFrom(beginUs)).toEqual([9.96e6])
    expect(beginsFrom(NOON_US + 9.97e6)).toEqual([9.96e6])
    expect(beginsFrom(NOON_US + 9.9e6)).toEqual([0, 9.96e6])
  })

  it('includes both segments of a time that was recorded twice because the clock was set back', () => {
    const archive = open(createTemporaryFolder())
    write(archive, 1, NOON_US, { seconds: 60 })
    write(archive, 1, NOON_US + 30e6, { seconds: 60 })
    expect(archive.findSegments(1, NOON_US + 40e6, NOON_US + 50e6)).toHaveLength(2)
  })

  it('excludes open segments from retention and deletion', async () => {
    const archive = open(createTemporaryFolder(), {
      measureDisk: () => ({ free: 0, size: 1e9 }),
      reserve: { bytes: 1, percent: 0 },
    })
    const { path } = write(archive, 1, NOON_US, { seconds: 10, close: false })
    archive.setPolicy(1, { keep_s: 60 })
    expect((await archive.applyRetention(NOON_US + HOUR_US)).full).toBe(true)
    expect(await archive.deleteSegments(1, 0, Number.MAX_SAFE_INTEGER)).toEqual({
      files: 0,
      bytes: 0,
    })
    expect(existsSync(path)).toBe(true)
  })
})

describe('retention', () => {
  it('deletes segments older than the limit of their source', async () => {
    const archive = open(createTemporaryFolder())
    for (const source of [1, 2]) {
      for (let hour = 0; hour < 5; hour++) write(archive, source, NOON_US + hour * HOUR_US)
    }
    archive.setPolicy(1, { keep_s: 2 * 3600 })
    await archive.applyRetention(NOON_US + 4 * HOUR_US + 60e6)
    expect(listRanges(archive)).toEqual([
      '14:00:00-14:01:00',
      '15:00:00-15:01:00',
      '16:00:00-16:01:00',
    ])
    expect(listRanges(archive, 2)).toHaveLength(5)
    await archive.applyRetention(NOON_US + 48 * HOUR_US)
    expect(archive.listSources()).toEqual([2])
  })

  it('deletes the oldest segments above the size limit, with their metadata', async () => {
    const folder = createTemporaryFolder()
    const archive = open(folder)
    const files = [0, 1, 2, 3].map(hour => write(archive, 1, NOON_US + hour * HOUR_US))
    writeFileSync(files[0]!.path.replace('mp4', 'jsonl'), '{}\n')
    archive.setPolicy(1, { keep_bytes: 2 * files[0]!.bytes })
    await archive.applyRetention(NOON_US)
    expect(listRanges(archive)).toEqual(['14:00:00-14:01:00', '15:00:00-15:01:00'])
    expect(readdirSync(join(folder, '1'))).toHaveLength(2)
  })

  it('deletes the oldest segments of all sources until the reserve is free', async () => {
    const folder = createTemporaryFolder()
    const size = 1e6
    const used = () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter(entry => entry.name.endsWith('.mp4'))
        .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
    const archive = open(folder, {
      reserve: { bytes: 1000, percent: 40 },
      measureDisk: () => ({ size, free: size - used() }),
    })
    for (let hour = 0; hour < 12; hour++) {
      write(archive, (hour % 2) + 1, NOON_US - (hour * HOUR_US) / 4)
    }
    expect(used()).toBeGreaterThan(0.7 * size)
    const room = await archive.applyRetention(NOON_US)
    expect(room).toMatchObject({ reserveBytes: 400_000, full: false })
    expect(size - used()).toBeGreaterThanOrEqual(400_000)
    const left = [...listRanges(archive), ...listRanges(archive, 2)].length
    expect(left).toBe(Math.floor(600_000 / (used() / left)))
    // The newest segments remain.
    expect(listRanges(archive).at(-1)).toBe('12:00:00-12:01:00')
    expect(listRanges(archive, 2).at(-1)).toBe('11:45:00-11:46:00')
  })

  it('reports a full disk when nothing is left to delete', async () => {
    const archive = open(createTemporaryFolder(), {
      reserve: { bytes: 500, percent: 0 },
      measureDisk: () => ({ free: 499, size: 1e6 }),
    })
    write(archive, 1, NOON_US)
    // Deleted bytes count as free at once, even before the disk reports them.
    expect(await archive.applyRetention(NOON_US)).toMatchObject({ full: false })
    expect(await archive.applyRetention(NOON_US)).toEqual({
      freeBytes: 499,
      reserveBytes: 500,
      full: true,
      undeletable: undefined,
    })
  })

  it('deletes segments of a wrong clock with later segments', async () => {
    const archive = open(createTemporaryFolder())
    const wrongUs = NOON_US + 100_000 * HOUR_US
    write(archive, 1, NOON_US)
    write(archive, 1, wrongUs)
    write(archive, 1, NOON_US + 2 * HOUR_US)
    archive.setPolicy(1, { keep_s: 2 * 3600 })
    const remainingAt = async (hours: number) => {
      await archive.applyRetention(NOON_US + hours * HOUR_US)
      return listRanges(archive).length
    }
    // The first segment has expired in the fourth hour, the others in the fifth.
    expect([await remainingAt(1), await remainingAt(3), await remainingAt(5)]).toEqual([3, 2, 0])
  })

  it('deletes segments of a wrong clock before later segments', async () => {
    const archive = open(createTemporaryFolder())
    const wrongUs = NOON_US + 100_000 * HOUR_US
    const begins = [NOON_US, wrongUs, wrongUs + HOUR_US, NOON_US + HOUR_US, NOON_US + 2 * HOUR_US]
    const files = begins.map(beginUs => write(archive, 1, beginUs))
    const remainingWith = async (count: number) => {
      archive.setPolicy(1, { keep_bytes: count * files[0]!.bytes })
      await archive.applyRetention(NOON_US + 3 * HOUR_US)
      return files.flatMap(({ path }, index) => (existsSync(path) ? index : []))
    }
    expect([await remainingWith(4), await remainingWith(2), await remainingWith(1)]).toEqual([
      [1, 2, 3, 4],
      [3, 4],
      [4],
    ])
  })

  it('describes a full disk in megabytes and gigabytes', () => {
    expect(describeFullDisk({ freeBytes: 35_192_832, reserveBytes: 1 << 30 })).toMatch(
      /^the disk has only 35\.2 MB left of a reserve of 1\.1 GB: delete files that are not needed, or lower the reserve/,
    )
  })
})

describe('recording archive after a crash', () => {
  it('indexes a file up to its last complete fragment', async () => {
    const folder = createTemporaryFolder()
    const before = createArchive({ folder, reserve: { bytes: 0, percent: 0 } })
    const { path, bytes } = write(before, 1, NOON_US, { seconds: 30, close: false })
    truncateSync(path, bytes - UNIT_BYTES / 2)
    before.shutDown()
    const archive = open(folder)
    expect(archive.isRebuilding()).toBe(true)
    expect(await archive.rebuildIndex()).toEqual({ files: 1, failures: [] })
    expect([archive.isRebuilding(), listRanges(archive)]).toEqual([false, ['12:00:00-12:00:29']])
    expect(readSegment(path)).toMatchObject({
      bytes: statSync(path).size,
      fragments: { length: 29 },
    })
  })

  it('omits a fragment whose moof was overwritten with zeros', async () => {
    const folder = createTemporaryFolder()
    const before = createArchive({ folder, reserve: { bytes: 0, percent: 0 } })
    const { path } = write(before, 1, NOON_US, { seconds: 4, close: false })
    before.shutDown()
    const bytes = readFileSync(path)
    const [, second, , last] = readSegment(path)!.fragments
    for (const { offset } of [second!, last!]) {
      bytes.fill(0, offset + MOOF_START_BYTES, offset + bytes.readUInt32BE(offset))
    }
    writeFileSync(path, bytes)

    const archive = open(folder)
    expect(await archive.rebuildIndex()).toEqual({ files: 1, failures: [] })
    expect(listRanges(archive)).toEqual(['12:00:00-12:00:03'])
    expect(readSegment(path)!.fragments.map(({ timeUs }) => timeUs - NOON_US)).toEqual([0, 2e6])
    expect(createClip([{ path }], NOON_US, NOON_US + 4e6)).toBeDefined()
  })

  it('reports a file that cannot be read, and indexes the others', async () => {
    const folder = createTemporaryFolder()
    const before = createArchive({ folder, reserve: { bytes: 0, percent: 0 } })
    const damaged = write(before, 1, NOON_US, { close: false })
    write(before, 2, NOON_US, { close: false })
    before.shutDown()
    damageFile(damaged.path)

    const archive = open(folder)
    const { files, failures } = await archive.rebuildIndex()
    expect([files, failures.map(({ file }) => file)]).toEqual([2, [relative(folder, damaged.path)]])
    expect([archive.isRebuilding(), archive.listSources()]).toEqual([false, [2]])
    expect(existsSync(damaged.path)).toBe(true)
  })

  it('deletes files without pictures and rows without files', async () => {
    const folder = createTemporaryFolder()
    const before = createArchive({ folder, reserve: { bytes: 0, percent: 0 } })
    const { path } = write(before, 1, NOON_US, { seconds: 30, close: false })
    truncateSync(path, 900)
    rmSync(write(before, 1, NOON_US + HOUR_US).path)
    before.shutDown()
    const archive = open(folder)
    await archive.rebuildIndex()
    expect([archive.listSources(), existsSync(path)]).toEqual([[], false])
  })

  it('restores events from the files and deletes them with their segments', async () => {
    const folder = createTemporaryFolder()
    const before = createArchive({ folder, reserve: { bytes: 0, percent: 0 } })
    const { path } = write(before, 1, NOON_US)
    before.shutDown()
    const happened = { channel: 3, pts: 90_000, time: '2026-01-01T12:00:01.000Z' }
    const { line } = toEventEntry({ source: 1, ...happened, data: { type: 'bell', name: 'door' } })
    const result = { channel: 3, pts: 90_000, objects: [], counters: {} }
    writeFileSync(
      path.replace('mp4', 'jsonl'),
      `${JSON.stringify(result)}\n${line}\n{"channel":3,"pts":1`,
    )
    rmSync(join(folder, 'index.db'))
    const archive = open(folder)
    await archive.rebuildIndex()
    const events = (fromUs: number, toUs: number) => archive.listEvents(1, fromUs, toUs)
    expect(events(0, Number.MAX_SAFE_INTEGER)).toEqual({
      events: [{ ...happened, epoch: 1, data: { type: 'bell', name: 'door' } }],
      more: false,
    })
    expect(events(NOON_US + 2e6, NOON_US + 9e6).events).toEqual([])
    const findByChannel = (channels: number[]) =>
      archive.listEvents(1, 0, Number.MAX_SAFE_INTEGER, channels).events.length
    expect([findByChannel([3, 4]), findByChannel([4]), findByChannel([])]).toEqual([1, 0, 0])
    await archive.deleteSegments(1, 0, Number.MAX_SAFE_INTEGER)
    expect(events(0, Number.MAX_SAFE_INTEGER).events).toEqual([])
  })

  it('waits while another process has locked the index, and keeps it', async () => {
    const folder = createTemporaryFolder()
    const options = { folder, reserve: { bytes: 0, percent: 0 } }
    const before = createArchive(options)
    write(before, 1, NOON_US)
    before.shutDown()
    const lock = new DatabaseSync(join(folder, 'index.db'))
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')

    const { archive, close } = openArchive(options)
    onTestFinished(close)
    const sources = archive.listSources()
    // Each attempt waits as long for the lock as the one of the thread.
    for (let attempt = 0; attempt < 2; attempt++) {
      expect(() => createArchive(options)).toThrow('database is locked')
    }
    lock.close()
    expect([await sources, await archive.isRebuilding()]).toEqual([[1], false])
  })

  it.each([
    ['missing', (file: string) => rmSync(file)],
    ['damaged', (file: string) => writeFileSync(file, Buffer.alloc(20_000, 7))],
    ['cut off', (file: string) => truncateSync(file, 5000)],
    ['a folder', (file: string) => rmSync(file) ?? mkdirSync(file)],
  ])('rebuilds an index that is %s', async (_, damage) => {
    const folder = createTemporaryFolder()
    const before = createArchive({ folder, reserve: { bytes: 0, percent: 0 } })
    for (const minute of [0, 1, 3]) write(before, 1, NOON_US + minute * 60e6)
    const ranges = before.listRanges(1, 0, Number.MAX_SAFE_INTEGER)
    before.shutDown()
    damage(join(folder, 'index.db'))
    const archive = open(folder)
    await archive.rebuildIndex()
    expect(archive.listRanges(1, 0, Number.MAX_SAFE_INTEGER)).toEqual(ranges)
    write(archive, 1, NOON_US + 4 * 60e6)
    expect(listRanges(archive).at(-1)).toBe('12:03:00-12:05:00')
  })
})
