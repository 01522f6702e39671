import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { createRingFolder } from './ring-folder.ts'

describe('ring folder', () => {
  it('is accessible only to its owner, and contains no rings from before a crash', async () => {
    const folder = join(createTemporaryFolder(), 'rings')
    await createRingFolder(folder, 0).open()
    for (const name of ['source-1-7.ring', 'source-1-8.ring.tmp', 'notes.txt']) {
      writeFileSync(join(folder, name), '')
    }
    await createRingFolder(folder, 0).open()
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(readdirSync(folder)).toEqual(['notes.txt'])
  })

  it('rejects a folder that other users can enter, and leaves it as it is', async () => {
    const folder = join(createTemporaryFolder(), 'rings')
    mkdirSync(folder)
    writeFileSync(join(folder, 'source-1-7.ring'), '')
    for (const mode of [0o777, 0o750, 0o701]) {
      chmodSync(folder, mode)
      await expect(createRingFolder(folder, 0).open()).rejects.toThrow(
        `decoded frames cannot be stored in ${folder}, because other users can enter it (mode ${mode.toString(8)}): delete it, or set EYRIE_RING`,
      )
      expect(statSync(folder).mode & 0o777).toBe(mode)
    }
    expect(readdirSync(folder)).toEqual(['source-1-7.ring'])
  })

  it('rejects a link, even to a private folder of the same user', async () => {
    const parent = createTemporaryFolder()
    const target = join(parent, 'elsewhere')
    const folder = join(parent, 'rings')
    mkdirSync(target, { mode: 0o700 })
    writeFileSync(join(target, 'kept.ring'), '')
    symlinkSync(target, folder)
    await expect(createRingFolder(folder, 0).open()).rejects.toThrow('because it is not a folder')
    expect(readdirSync(target)).toEqual(['kept.ring'])
  })

  it.runIf(process.geteuid?.() === 0)(
    'rejects a folder that another user created first',
    async () => {
      const folder = join(createTemporaryFolder(), 'rings')
      mkdirSync(folder, { mode: 0o700 })
      chownSync(folder, 65534, 65534)
      await expect(createRingFolder(folder, 0).open()).rejects.toThrow(
        'because it belongs to user 65534',
      )
      expect(statSync(folder).uid).toBe(65534)
    },
  )

  it('rejects a parent in which other users can replace the folder', async () => {
    const parent = createTemporaryFolder()
    const folder = join(parent, 'between', 'rings')
    chmodSync(parent, 0o777)
    await expect(createRingFolder(folder, 0).open()).rejects.toThrow(`run chmod +t ${parent}`)
    expect(existsSync(folder)).toBe(false)
    chmodSync(parent, 0o1777)
    await createRingFolder(folder, 0).open()
    expect(readdirSync(folder)).toEqual([])
  })

  it('is removed on close unless it contains other files', async () => {
    const own = join(createTemporaryFolder(), 'own')
    const shared = join(createTemporaryFolder(), 'shared')
    for (const folder of [own, shared]) {
      const rings = createRingFolder(folder, 0)
      await rings.open()
      writeFileSync(rings.allocate(1).path, '')
      if (folder === shared) writeFileSync(join(folder, 'notes.txt'), '')
      await rings.close()
    }
    expect(existsSync(own)).toBe(false)
    expect(readdirSync(shared)).toEqual(['notes.txt'])
  })

  it('never reuses the path or generation of a ring, also after a restart', () => {
    const runs = [1_772_625_600_000, 1_772_625_601_000].map(epoch =>
      createRingFolder('/dev/shm', epoch),
    )
    const all = runs.flatMap(rings => Array.from({ length: 5 }, () => rings.allocate(1)))
    expect(new Set(all.map(({ path }) => path)).size).toBe(10)
    expect(new Set(all.map(({ generation }) => generation)).size).toBe(10)
  })
})
