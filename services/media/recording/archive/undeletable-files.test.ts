import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { mountRequirement } from '../../../../test/fixtures/requirements/mount-namespace.ts'
import { needs } from '../../../../test/fixtures/requirements/needs.ts'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { HOUR_US, NOON_US, open, write } from './recording-archive.fixture.ts'
import type { ArchiveOptions } from './recording-archive.ts'

const MINUTE_MS = 60_000

/** Opens an archive with files of different hours, the oldest of which cannot be deleted. */
function openWithUndeletable(fileCount: number, options: Partial<ArchiveOptions> = {}) {
  let nowMs = 0
  const archive = open(createTemporaryFolder(), { now: () => nowMs, ...options })
  const files = Array.from({ length: fileCount }, (_, n) =>
    write(archive, 1, NOON_US + n * HOUR_US),
  )
  const oldest = files[0]!
  // Like a file without permission, a folder cannot be removed as a file.
  rmSync(oldest.path)
  mkdirSync(oldest.path)
  return {
    archive,
    bytes: oldest.bytes,
    applyRetention: () => archive.applyRetention(NOON_US + fileCount * HOUR_US),
    makeDeletable() {
      rmdirSync(oldest.path)
    },
    listExisting: () => files.map(({ path }) => existsSync(path)),
    pass(ms: number) {
      nowMs += ms
    },
  }
}

describe('a file that cannot be deleted', () => {
  it('is skipped by retention, which deletes others instead', async () => {
    const { archive, bytes, applyRetention, listExisting } = openWithUndeletable(4)
    archive.setPolicy(1, { keep_bytes: 2 * bytes })
    expect((await applyRetention()).undeletable).toEqual({ files: 1, error: expect.any(Error) })
    expect(listExisting()).toEqual([true, false, false, true])
    archive.setPolicy(1, { keep_s: 1 })
    await applyRetention()
    expect(listExisting()).toEqual([true, false, false, false])
  })

  it('is tried again after a minute', async () => {
    const { archive, applyRetention, makeDeletable, pass } = openWithUndeletable(1)
    archive.setPolicy(1, { keep_s: 1 })
    await applyRetention()
    makeDeletable()
    pass(MINUTE_MS - 1)
    expect((await applyRetention()).undeletable?.files).toBe(1)
    expect(archive.listSources()).toEqual([1])
    pass(1)
    expect((await applyRetention()).undeletable).toBeUndefined()
    expect(archive.listSources()).toEqual([])
  })

  it('is reported for as long as the disk is filled again and again', async () => {
    let free = 0
    const { applyRetention, pass } = openWithUndeletable(4, {
      measureDisk: () => ({ free, size: 1e9 }),
      reserve: { bytes: 1, percent: 0 },
    })
    const reports: (number | undefined)[] = []
    for (free of [0, 1, 0, 1]) {
      reports.push((await applyRetention()).undeletable?.files)
      pass(2 * MINUTE_MS)
    }
    expect(reports).toEqual([1, 1, 1, 1])
  })

  it('is no longer reported once it need not be deleted, or was deleted on request', async () => {
    const { archive, applyRetention, makeDeletable, pass } = openWithUndeletable(1)
    archive.setPolicy(1, { keep_s: 1 })
    await applyRetention()
    archive.setPolicy(1, {})
    pass(60 * MINUTE_MS)
    expect((await applyRetention()).undeletable).toBeUndefined()

    archive.setPolicy(1, { keep_s: 1 })
    expect((await applyRetention()).undeletable?.files).toBe(1)
    makeDeletable()
    expect(await archive.deleteSegments(1, 0, Number.MAX_SAFE_INTEGER)).toMatchObject({ files: 1 })
    expect((await applyRetention()).undeletable).toBeUndefined()
  })
})

it('retention tries one file on a read-only disk', needs(mountRequirement), async () => {
  const folder = createTemporaryFolder()
  const archive = open(folder)
  const oldest = write(archive, 1, NOON_US)
  write(archive, 1, NOON_US + HOUR_US)
  const script = join(import.meta.dirname, 'read-only-disk.fixture.ts')
  const { stdout } = await promisify(execFile)('unshare', [
    ...['--map-root-user', '--mount', process.execPath],
    ...[script, folder, String(NOON_US + 48 * HOUR_US)],
  ])
  expect(JSON.parse(stdout)).toBe(
    `EROFS: read-only file system, unlink '${oldest.path.replace(/mp4$/, 'jsonl')}'`,
  )
})
