import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'
import { createRingFolder } from './ring-folder.ts'

test('the ring folder is made for the group alone, and emptied of what a crash has left', async () => {
  const folder = join(temporaryFolder(), 'rings')
  mkdirSync(folder, { mode: 0o777 })
  for (const name of ['source-1-7.ring', 'source-1-8.ring.tmp', 'notes.txt'])
    writeFileSync(join(folder, name), '')
  await createRingFolder(folder).open()
  expect(statSync(folder).mode & 0o777).toBe(0o750)
  expect(readdirSync(folder)).toEqual(['notes.txt'])
})

test('the ring folder is gone at the end, unless something else lies in it', async () => {
  const [mine, shared] = [join(temporaryFolder(), 'mine'), join(temporaryFolder(), 'shared')]
  for (const folder of [mine, shared]) {
    const rings = createRingFolder(folder)
    await rings.open()
    writeFileSync(rings.next(1).path, '')
    if (folder === shared) writeFileSync(join(folder, 'notes.txt'), '')
    await rings.close()
  }
  expect(existsSync(mine)).toBe(false)
  expect(readdirSync(shared)).toEqual(['notes.txt'])
})

test('no ring ever has the name or generation of one before', () => {
  const rings = createRingFolder('/dev/shm')
  const all = Array.from({ length: 5 }, () => rings.next(1))
  expect(new Set(all.map(({ path }) => path)).size).toBe(5)
  expect(all.map(({ generation }) => generation)).toEqual([1, 2, 3, 4, 5])
})
