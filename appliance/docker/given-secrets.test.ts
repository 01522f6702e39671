import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { readGivenSecrets } from './given-secrets.ts'

function createSecrets(files: Record<string, string>): string {
  const folder = createTemporaryFolder()
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}

test('secrets are read from files that are named after their variables', () => {
  const folder = createSecrets({
    'README.md': '',
    '.gitignore': '',
    DATABASE_URL: 'postgres://db\n',
    SOURCE: 'x\n',
  })
  expect(readGivenSecrets(folder)).toEqual({
    secrets: { DATABASE_URL: 'postgres://db' },
    source: 'x',
    certificate: undefined,
  })
})

test('a certificate is found by the names of its files', () => {
  const folder = createSecrets({ 'tls.crt': '', 'tls.key': '' })
  expect(readGivenSecrets(folder).certificate).toEqual({
    EYRIE_TLS_CERT: join(folder, 'tls.crt'),
    EYRIE_TLS_KEY: join(folder, 'tls.key'),
  })
})

test('a file that nothing reads is an error', () => {
  const folder = createSecrets({ EYRIE_ADMIN_PASWORD: 'x' })
  expect(() => readGivenSecrets(folder)).toThrow(
    'contains EYRIE_ADMIN_PASWORD, which nothing reads',
  )
})
