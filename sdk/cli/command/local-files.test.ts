import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { createLocalFolder } from './local-files.ts'

describe('a folder named on the command line', () => {
  it('is created with the folders above it, unless it exists', async () => {
    const folder = join(createTemporaryFolder(), 'a/b')
    await Promise.all([createLocalFolder(folder), createLocalFolder(folder)])
    await createLocalFolder(folder)
    expect(existsSync(folder)).toBe(true)
  })

  it('is rejected if a file is in its place', async () => {
    const file = join(createTemporaryFolder(), 'file')
    writeFileSync(file, '')
    const reason = `${file} cannot be created: EEXIST`
    await expect(createLocalFolder(file)).rejects.toThrow(reason)
  })

  it.each([
    'plugin create /proc/none/folder/crowd --language python',
    'plugin mirror @registry /proc/none/folder',
    'restore @registry/index.json',
    'model add door --file @registry/index.json --head yolox --labels coco --license MIT',
  ])('is rejected where the system creates no folders, by "eyrie %s"', async line => {
    const registry = createTemporaryFolder()
    writeFileSync(join(registry, 'index.json'), '{"format":1,"entries":[]}')
    const args = line.split(' ').map(word => word.replace('@registry', registry))
    expect(await runEyrieCommand(args, { data: '/proc/none/data' })).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^eyrie: \/proc\/none\S+ cannot be created: ENOENT/m),
    })
  })
})
