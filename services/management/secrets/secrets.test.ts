import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { loadSecrets } from './secrets.ts'

const keyFile = (data: string) => join(data, 'secrets', 'management-key')

test('a sealed text opens again, even after a restart', () => {
  const data = createTemporaryFolder()
  const sealed = loadSecrets(data).seal('pässword')
  expect(sealed).not.toContain('pässword')
  expect(loadSecrets(data).open(sealed)).toBe('pässword')
})

test('the same text is sealed differently each time', () => {
  const { seal } = loadSecrets(createTemporaryFolder())
  expect(seal('password')).not.toBe(seal('password'))
})

test('an empty text is not sealed', () => {
  const { seal, open } = loadSecrets(createTemporaryFolder())
  expect([seal(''), open('')]).toEqual(['', ''])
})

test('only the owner can read the key', () => {
  const data = createTemporaryFolder()
  loadSecrets(data)
  expect(statSync(keyFile(data)).mode & 0o777).toBe(0o600)
  expect(statSync(join(data, 'secrets')).mode & 0o777).toBe(0o700)
})

test.each([
  ['altered', (sealed: string) => sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA')],
  ['truncated', (sealed: string) => sealed.slice(0, 12)],
  ['not sealed', () => 'password'],
])('rejects a text that is %s', (_, change) => {
  const { seal, open } = loadSecrets(createTemporaryFolder())
  expect(() => open(change(seal('password')))).toThrow('cannot be decrypted with the key in')
})

test('rejects a text sealed with another key and names the key file', () => {
  const [data, other] = [createTemporaryFolder(), createTemporaryFolder()]
  const sealed = loadSecrets(data).seal('password')
  expect(() => loadSecrets(other).open(sealed)).toThrow(keyFile(other))
})

test('reports a damaged key and does not overwrite it', () => {
  const data = createTemporaryFolder()
  loadSecrets(data)
  writeFileSync(keyFile(data), 'half')
  expect(() => loadSecrets(data)).toThrow('is damaged')
  expect(readFileSync(keyFile(data), 'utf8')).toBe('half')
})
