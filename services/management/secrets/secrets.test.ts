import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'
import { readSecrets } from './secrets.ts'

const keyOf = (data: string) => join(data, 'secrets', 'management-key')

test('what was sealed opens again, after a restart too', () => {
  const data = temporaryFolder()
  const sealed = readSecrets(data).seal('pässword')
  expect(sealed).not.toContain('pässword')
  expect(readSecrets(data).open(sealed)).toBe('pässword')
})

test('the same text is sealed differently each time', () => {
  const { seal } = readSecrets(temporaryFolder())
  expect(seal('password')).not.toBe(seal('password'))
})

test('nothing stays nothing', () => {
  const { seal, open } = readSecrets(temporaryFolder())
  expect([seal(''), open('')]).toEqual(['', ''])
})

test('the key is read by its owner alone', () => {
  const data = temporaryFolder()
  readSecrets(data)
  expect(statSync(keyOf(data)).mode & 0o777).toBe(0o600)
  expect(statSync(join(data, 'secrets')).mode & 0o777).toBe(0o700)
})

test.each([
  ['changed', (sealed: string) => sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BB' : 'AA')],
  ['cut short', (sealed: string) => sealed.slice(0, 12)],
  ['never sealed', () => 'password'],
])('what was %s does not open', (_, change) => {
  const { seal, open } = readSecrets(temporaryFolder())
  expect(() => open(change(seal('password')))).toThrow('does not open with the key in')
})

test('with another key nothing opens, and the message names the file', () => {
  const [data, other] = [temporaryFolder(), temporaryFolder()]
  const sealed = readSecrets(data).seal('password')
  expect(() => readSecrets(other).open(sealed)).toThrow(keyOf(other))
})

test('a damaged key is told and stays as it is', () => {
  const data = temporaryFolder()
  readSecrets(data)
  writeFileSync(keyOf(data), 'half')
  expect(() => readSecrets(data)).toThrow('is damaged')
  expect(readFileSync(keyOf(data), 'utf8')).toBe('half')
})
