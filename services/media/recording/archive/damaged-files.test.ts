import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { damageFile, HOUR_US, NOON_US, open, write } from './recording-archive.fixture.ts'
import { type ArchiveOptions, createArchive } from './recording-archive.ts'

describe('a file that cannot be indexed', () => {
  /** Opens an archive with one minute of source 1 from each of these hours, the first damaged. */
  async function openDamaged(hours: number[], options: Partial<ArchiveOptions> = {}) {
    const folder = createTemporaryFolder()
    const before = createArchive({ folder, reserve: { bytes: 0, percent: 0 } })
    const files = hours.map(hour => {
      const beginUs = NOON_US + hour * HOUR_US
      const written = write(before, 1, beginUs, { close: false })
      const metadata = written.path.replace('mp4', 'jsonl')
      writeFileSync(metadata, '{}\n')
      const endS = beginUs / 1e6 + 60
      return { ...written, metadata, utimes: () => utimesSync(written.path, endS, endS) }
    })
    before.shutDown()
    damageFile(files[0]!.path)
    for (const { utimes } of files) utimes()

    const archive = open(folder, options)
    const { failures } = await archive.rebuildIndex()
    expect(failures).toHaveLength(1)
    return { archive, files, list: () => readdirSync(join(folder, '1')).length / 2 }
  }

  it('is deleted with its age, and with its metadata', async () => {
    const { archive, files, list } = await openDamaged([0, 1])
    archive.setPolicy(1, { keep_s: 3600 })
    await archive.applyRetention(NOON_US + HOUR_US)
    expect(list()).toBe(2)
    await archive.applyRetention(NOON_US + HOUR_US + 120e6)
    expect(list()).toBe(1)
    expect([files[0]!.path, files[0]!.metadata].map(existsSync)).toEqual([false, false])
  })

  it('counts against the size limit of its source', async () => {
    const { archive, files, list } = await openDamaged([1, 0, 2])
    archive.setPolicy(1, { keep_bytes: 2.5 * files[0]!.bytes })
    await archive.applyRetention(NOON_US)
    // The oldest one is intact.
    expect([list(), existsSync(files[0]!.path)]).toEqual([2, true])
    archive.setPolicy(1, { keep_bytes: 1.5 * files[0]!.bytes })
    await archive.applyRetention(NOON_US)
    expect([list(), existsSync(files[0]!.path)]).toEqual([1, false])
  })

  it('is deleted on a full disk', async () => {
    const { archive, list } = await openDamaged([0], {
      measureDisk: () => ({ free: 0, size: 1e9 }),
      reserve: { bytes: 1, percent: 0 },
    })
    expect(await archive.applyRetention(NOON_US)).toMatchObject({ full: false })
    expect(list()).toBe(0)
  })

  it('is deleted with the recordings of its time', async () => {
    const { archive, files, list } = await openDamaged([0, 1])
    const minute = { fromUs: NOON_US + 30e6, toUs: NOON_US + 40e6 }
    expect(await archive.deleteSegments(1, minute.fromUs, minute.toUs)).toEqual({
      files: 1,
      bytes: files[0]!.bytes + 3,
    })
    expect(list()).toBe(1)
  })

  it('is tried again if it could not be deleted', async () => {
    let nowMs = 0
    const { archive, files, list } = await openDamaged([0, 1], { now: () => nowMs })
    rmSync(files[0]!.metadata)
    mkdirSync(files[0]!.metadata)
    archive.setPolicy(1, { keep_s: 60 })
    const { undeletable } = await archive.applyRetention(NOON_US + 2 * HOUR_US)
    expect([undeletable?.files, list(), existsSync(files[0]!.path)]).toEqual([1, 1, true])
    rmdirSync(files[0]!.metadata)
    nowMs += 60_000
    await archive.applyRetention(NOON_US + 2 * HOUR_US)
    expect([list(), existsSync(files[0]!.path)]).toEqual([0, false])
  })
})
