import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createPluginEntries, createTarball } from '../../../test/fixtures/engine/plugin-package.ts'
import { writePlugin } from '../../../test/fixtures/engine/test-plugin.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { packPlugin } from './plugin-archive.ts'
import { readPluginFiles } from './plugin-files.ts'

const manifest = { name: 'crowd' }

describe('the files of a plugin', () => {
  it.each(['../crowd.txt', 'package/../../crowd.txt', '/tmp/crowd.txt', 'package//crowd.txt'])(
    'are rejected if an archive contains the path %s, which leaves the package',
    async name => {
      const file = join(createTemporaryFolder(), 'crowd.tgz')
      writeFileSync(
        file,
        await createTarball([...createPluginEntries(manifest), { name, content: '' }]),
      )
      await expect(readPluginFiles(file)).rejects.toThrow(
        `${JSON.stringify(name)} is not a valid path inside the package`,
      )
    },
  )

  it('are rejected if the folder contains a symbolic link, which would be missing', async () => {
    const parent = createTemporaryFolder()
    writePlugin(parent, manifest)
    const folder = join(parent, 'crowd')
    symlinkSync('element.ts', join(folder, '.omitted.ts'))
    await expect(packPlugin(folder)).resolves.toBeDefined()
    symlinkSync('element.ts', join(folder, 'linked.ts'))
    await expect(packPlugin(folder)).rejects.toThrow(
      `${folder}/linked.ts is a symbolic link, which a package cannot contain: replace it by a file, or delete it`,
    )
  })

  it('do not include the package that was packed into their own folder', async () => {
    const parent = createTemporaryFolder()
    writePlugin(parent, manifest)
    const folder = join(parent, 'crowd')
    const first = await packPlugin(folder)
    writeFileSync(join(folder, 'crowd-1.0.0.tgz'), first.archive)
    expect(await packPlugin(folder)).toEqual(first)
  })
})
