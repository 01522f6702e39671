import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { createArchiveWriter } from './archive-writer.ts'

it('the backups of the user in the data folder remain when another one is written', async () => {
  const data = createTemporaryFolder()
  const folder = join(data, 'backups')
  mkdirSync(folder)
  writeFileSync(join(folder, 'eyrie.backup'), '')
  const write = createArchiveWriter({ data, databaseUrl: undefined, isSupervised: false })
  await expect(write('correct horse battery staple', AbortSignal.abort())).rejects.toThrow()
  expect(readdirSync(folder)).toEqual(['eyrie.backup'])
  expect(readdirSync(data)).toEqual(['backups'])
})
