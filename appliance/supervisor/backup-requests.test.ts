import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readEnvironment } from '@eyrie/kit'
import { expect, it } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { createBackupRequests } from './backup-requests.ts'

it('the backups of the user in the data folder remain when the supervisor stops', () => {
  const data = createTemporaryFolder()
  const folder = join(data, 'backups')
  mkdirSync(folder)
  writeFileSync(join(folder, 'eyrie.backup'), '')
  const requests = createBackupRequests({
    environment: readEnvironment({ EYRIE_DATA: data }),
    variables: {},
    separation: { kind: 'root', reason: '' },
    answer: () => {},
  })
  requests.stop()
  expect(readdirSync(folder)).toEqual(['eyrie.backup'])
})
