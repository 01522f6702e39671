import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { loadSecrets } from './secrets.ts'

const keyFile = (data: string) => join(data, 'secrets', 'management-key')

describe('secrets', () => {
  it('decrypts a text, even after a restart', () => {
    const data = createTemporaryFolder()
    const encrypted = loadSecrets(data).encrypt('pässword')
    expect(encrypted).not.toContain('pässword')
    expect(loadSecrets(data).decrypt(encrypted)).toBe('pässword')
  })

  it('encrypts the same text differently each time', () => {
    const { encrypt } = loadSecrets(createTemporaryFolder())
    expect(encrypt('password')).not.toBe(encrypt('password'))
  })

  it('leaves an empty text empty', () => {
    const { encrypt, decrypt } = loadSecrets(createTemporaryFolder())
    expect([encrypt(''), decrypt('')]).toEqual(['', ''])
  })

  it('stores the key in a file that only its owner can read', () => {
    const data = createTemporaryFolder()
    loadSecrets(data)
    expect(statSync(keyFile(data)).mode & 0o777).toBe(0o600)
    expect(statSync(join(data, 'secrets')).mode & 0o777).toBe(0o700)
  })

  it.each([
    [
      'altered',
      (encrypted: string) => encrypted.slice(0, -2) + (encrypted.endsWith('AA') ? 'BB' : 'AA'),
    ],
    ['truncated', (encrypted: string) => encrypted.slice(0, 12)],
    ['not encrypted', () => 'password'],
  ])('rejects a text that is %s', (_, change) => {
    const { encrypt, decrypt } = loadSecrets(createTemporaryFolder())
    expect(() => decrypt(change(encrypt('password')))).toThrow(
      'cannot be decrypted with the key in',
    )
  })

  it('rejects a text encrypted with another key and names the key file', () => {
    const [data, other] = [createTemporaryFolder(), createTemporaryFolder()]
    const encrypted = loadSecrets(data).encrypt('password')
    expect(() => loadSecrets(other).decrypt(encrypted)).toThrow(keyFile(other))
  })

  it('reports a damaged key and does not overwrite it', () => {
    const data = createTemporaryFolder()
    loadSecrets(data)
    writeFileSync(keyFile(data), 'half')
    expect(() => loadSecrets(data)).toThrow('is damaged')
    expect(readFileSync(keyFile(data), 'utf8')).toBe('half')
  })
})
