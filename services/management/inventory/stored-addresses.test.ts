import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, describe, expect, it } from 'vitest'
import { createTestDatabase } from '../../../test/fixtures/management/test-database.ts'
import { shared } from '../../../test/fixtures/setup/shared.ts'
import { loadSecrets } from '../secrets/secrets.ts'
import {
  decryptAddress,
  encryptAddress,
  encryptPlainSecrets,
  redactStoredAddress,
} from './stored-addresses.ts'

const folder = mkdtempSync(join(tmpdir(), 'eyrie-addresses-'))
afterAll(() => rmSync(folder, { recursive: true }))
const secrets = loadSecrets(folder)
const encrypt = (address: string, stored?: string, hasSameServer = true) =>
  encryptAddress({ address, stored, hasSameServer, field: 'source_address' }, secrets)

// An address as a client sends it, and as a response contains it.
const ADDRESSES = [
  ['rtsp://admin:Hunter2@10.0.0.9/main', 'rtsp://admin:***@10.0.0.9/main'],
  ['RTSP://admin:Hunter2@x@10.0.0.9', 'RTSP://admin:***@10.0.0.9'],
  ['admin:Hunter2@10.0.0.9:554/main', 'admin:***@10.0.0.9:554/main'],
  ['10.0.0.9/main?user=me&pwd=Hunter2', '10.0.0.9/main?user=me&pwd=***'],
  ['http://cam/?token=Hunter2&token=Hunter3#a', 'http://cam/?token=***&token=***#a'],
  ['/media/a:b@c.mp4', '/media/a:b@c.mp4'],
  ['file:///media/a:b@c.mp4', 'file:///media/a:b@c.mp4'],
  ['rtsp://admin@10.0.0.9:554/a@b', 'rtsp://admin@10.0.0.9:554/a@b'],
  ['[fe80::1]:554/main', '[fe80::1]:554/main'],
  ['', ''],
] as const

describe('stored address', () => {
  it.each(ADDRESSES)('of %s hides and encrypts its secrets', (address, redacted) => {
    const stored = encrypt(address)
    expect(stored).not.toContain('Hunter')
    expect(decryptAddress(stored, secrets)).toBe(address)
    expect(redactStoredAddress(stored)).toBe(redacted)
    expect(encrypt(redacted, stored)).toBe(stored)
    expect(encryptPlainSecrets(stored, secrets)).toBe(stored)
  })

  it('of an earlier release is readable in plain text until it is encrypted', () => {
    const plain = 'rtsp://admin:Hunter2@10.0.0.9/main'
    expect(decryptAddress(plain, secrets)).toBe(plain)
    for (const stored of [
      encryptPlainSecrets(plain, secrets),
      encrypt('rtsp://admin:***@10.0.0.9/main', plain),
      encrypt('rtsp://admin:***@10.0.0.9/sub', plain),
    ]) {
      expect(stored).toMatch(/^rtsp:\/\/admin:sealed1:/)
    }
  })

  it('keeps a secret while other parts of the address change', () => {
    const changed = encrypt('rtsp://other:***@cam/b', encrypt('rtsp://admin:Hunter2@cam/a'))
    expect(decryptAddress(changed, secrets)).toBe('rtsp://other:Hunter2@cam/b')
  })

  it('never decrypts an encrypted secret that a client sends', () => {
    const stolen = encrypt('rtsp://admin:Hunter2@10.0.0.9')
    expect(decryptAddress(encrypt(stolen), secrets)).toBe(stolen)
  })

  it('rejects *** where no secret is stored, or for another server', () => {
    const stored = encrypt('rtsp://admin:Hunter2@10.0.0.9/main')
    const nothingStored = 'source_address: *** refers to a stored secret, but none is stored'
    expect(() => encrypt('rtsp://admin:***@10.0.0.9')).toThrow(nothingStored)
    expect(() => encrypt('rtsp://10.0.0.9/?pwd=***', stored)).toThrow(nothingStored)
    expect(() => encrypt('rtsp://admin:***@attacker', stored, false)).toThrow(
      'source_address: *** refers to a secret that is stored for another protocol, host or port',
    )
  })
})

describe('redact_address', () => {
  const its = shared(createTestDatabase, ({ remove }) => remove())

  it.each(ADDRESSES)('hides the same secrets of %s in the audit log', async (address, redacted) => {
    for (const text of [address, encrypt(address)]) {
      const [row] = await its.database.system('test', tx =>
        tx.execute(sql`select redact_address(${text}) as redacted`),
      )
      expect(row).toEqual({ redacted })
    }
  })
})
