import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { findExcerpt } from './source-excerpt.ts'

it('shows the lines around an error, of files of the plugin only', async () => {
  const folder = join(createTemporaryFolder(), 'crowd')
  mkdirSync(folder)
  writeFileSync(join(folder, 'element.ts'), 'one\ntwo\nthree\nfour\n')
  writeFileSync(join(folder, '../secret'), 'secret')
  expect(await findExcerpt(folder, 'crowd: limit is not defined (element.ts:2:5)')).toEqual({
    file: 'element.ts',
    line: 2,
    lines: [
      { number: 1, text: 'one' },
      { number: 2, text: 'two' },
      { number: 3, text: 'three' },
      { number: 4, text: 'four' },
    ],
  })
  for (const reason of [
    'no answer within 1 s',
    '(../secret:1:1)',
    '(/etc/passwd:1:1)',
    '(other.ts:1:1)',
  ]) {
    expect(await findExcerpt(folder, reason)).toBeUndefined()
  }
})
