import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ArchiveEntry, createTarball } from '../../../test/fixtures/engine/plugin-package.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { unpackPackage } from './unpack-package.ts'

const limits = { bytes: 1 << 20, files: 4 }
const file = (name: string, content = name): ArchiveEntry => ({ name, content })

describe('unpackPackage', () => {
  it.each([
    ['by npm, under one folder', 'package/', 'package'],
    ['by tar, under its own name', 'crowd/', 'crowd'],
    ['by tar, from inside the folder', './', ''],
    ['without any folder', '', ''],
  ])('unpacks an archive created %s', async (_, prefix, pluginFolder) => {
    const folder = createTemporaryFolder()
    const entries = [file(`${prefix}plugin.json`), file(`${prefix}lib/a.ts`)]
    const unpacked = await unpackPackage(await createTarball(entries), folder, limits)
    expect(unpacked).toBe(join(folder, pluginFolder))
    expect(readFileSync(join(unpacked, 'lib/a.ts'), 'utf8')).toBe(`${prefix}lib/a.ts`)
  })

  it('unpacks names that exceed the tar header', async () => {
    const name = `lib/${'n'.repeat(150)}.ts`
    const unpacked = await unpackPackage(
      await createTarball([file('plugin.json'), file(name)]),
      createTemporaryFolder(),
      limits,
    )
    expect(readFileSync(join(unpacked, name), 'utf8')).toBe(name)
  })

  it('rejects an archive with too many files and folders', async () => {
    const folders = (count: number): ArchiveEntry[] =>
      Array.from({ length: count }, (_, i) => ({ name: `${i}/`, type: 'directory' }))
    const archive = (count: number) => createTarball([file('plugin.json'), ...folders(count)])
    await expect(
      unpackPackage(await archive(3), createTemporaryFolder(), limits),
    ).resolves.toBeTruthy()
    await expect(
      unpackPackage(await archive(4), createTemporaryFolder(), limits),
    ).rejects.toMatchObject({
      code: 'size',
      message: 'the package contains more than 4 files and folders',
    })
  })
})
