import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { createRingFolder } from './ring-folder.ts'

describe('ring folder', () => {
  it('is accessible only to its group, and contains no rings from before a crash', async () => {
    const folder = join(createTemporaryFolder(), 'rings')
    mkdirSync(folder, { mode: 0o777 })
    for (const name of ['source-1-7.ring', 'source-1-8.ring.tmp', 'notes.txt'])
      writeFileSync(join(folder, name), '')
    await createRingFolder(folder).open()
    expect(statSync(folder).mode & 0o777).toBe(0o750)
    expect(readdirSync(folder)).toEqual(['notes.txt'])
  })

  it('is removed on close unless it contains other files', async () => {
    const own = join(createTemporaryFolder(), 'own')
    const shared = join(createTemporaryFolder(), 'shared')
    for (const folder of [own, shared]) {
      const rings = createRingFolder(folder)
      await rings.open()
      writeFileSync(rings.allocate(1).path, '')
      if (folder === shared) writeFileSync(join(folder, 'notes.txt'), '')
      await rings.close()
    }
    expect(existsSync(own)).toBe(false)
    expect(readdirSync(shared)).toEqual(['notes.txt'])
  })

  it('never reuses the path or generation of a ring', () => {
    const rings = createRingFolder('/dev/shm')
    const all = Array.from({ length: 5 }, () => rings.allocate(1))
    expect(new Set(all.map(({ path }) => path)).size).toBe(5)
    expect(all.map(({ generation }) => generation)).toEqual([1, 2, 3, 4, 5])
  })
})
