import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../test/fixtures/temporary.ts'
import { secret } from './secrets.ts'

test('a secret is made once, for its owner alone', () => {
  const data = temporaryFolder()
  const made = secret(data, 'engine-token')
  expect(made).toMatch(/^[\w-]{43}$/)
  expect(secret(data, 'engine-token')).toBe(made)
  expect(secret(data, 'internal-token')).not.toBe(made)
  expect(readdirSync(join(data, 'secrets'))).toEqual(['engine-token', 'internal-token'])
  expect(statSync(join(data, 'secrets/engine-token')).mode & 0o777).toBe(0o600)
})

test('one of which a loss of power has left nothing is made again', () => {
  const data = temporaryFolder()
  mkdirSync(join(data, 'secrets'))
  writeFileSync(join(data, 'secrets/engine-token'), '')
  expect(secret(data, 'engine-token')).toMatch(/^[\w-]{43}$/)
})
