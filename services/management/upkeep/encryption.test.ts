import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { createDecryption, createEncryptor, readEncryptionHeader } from './encryption.ts'

const PASSPHRASE = 'correct horse battery staple'
const HEADER_BYTES = 28
const CHUNK_BYTES = 64 * 1024
const SEALED_CHUNK_BYTES = CHUNK_BYTES + 16
const LOW_COST = { logN: 10, r: 8, p: 1 }

async function encrypt(content: Buffer, passphrase = PASSPHRASE): Promise<Buffer> {
  const encryptor = await createEncryptor(passphrase, LOW_COST)
  return buffer(Readable.from([content], { objectMode: false }).pipe(encryptor))
}

async function decrypt(encrypted: Buffer, passphrase = PASSPHRASE): Promise<Buffer> {
  const path = join(createTemporaryFolder(), 'backup')
  writeFileSync(path, encrypted)
  const header = await readEncryptionHeader(path)
  const [file, decryptor] = await createDecryption(path, header!, passphrase)
  return buffer(file.pipe(decryptor))
}

describe('encryption of a backup', () => {
  it.each([0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 5 * CHUNK_BYTES])(
    'is reversed by the passphrase, for %i bytes',
    async size => {
      const content = randomBytes(size)
      const encrypted = await encrypt(content)
      const chunkCount = Math.max(1, Math.ceil(size / CHUNK_BYTES))
      expect(encrypted.length).toBe(HEADER_BYTES + size + 16 * chunkCount)
      expect((await decrypt(encrypted)).equals(content)).toBe(true)
    },
  )

  it('derives its key at a cost that slows down guesses', async () => {
    const encrypted = await buffer(
      Readable.from(['content']).pipe(await createEncryptor(PASSPHRASE)),
    )
    expect([...encrypted.subarray(8, 11)]).toEqual([17, 8, 1])
    expect((await decrypt(encrypted)).toString()).toBe('content')
  })

  it('differs each time and reveals nothing of the content', async () => {
    const content = Buffer.alloc(1000, 'secret')
    const [first, second] = [await encrypt(content), await encrypt(content)]
    expect(first.equals(second)).toBe(false)
    expect(first.includes('secret')).toBe(false)
  })

  it('accepts a passphrase whose accents are composed differently', async () => {
    const encrypted = await encrypt(Buffer.alloc(0), 'pässphräse'.normalize('NFD'))
    expect(await decrypt(encrypted, 'pässphräse'.normalize('NFC'))).toEqual(Buffer.alloc(0))
  })

  describe('is authenticated', () => {
    let sealed: Buffer
    beforeAll(async () => {
      sealed = await encrypt(randomBytes(3 * CHUNK_BYTES))
    })
    const chunk = (n: number) =>
      sealed.subarray(
        HEADER_BYTES + n * SEALED_CHUNK_BYTES,
        HEADER_BYTES + (n + 1) * SEALED_CHUNK_BYTES,
      )
    const header = () => sealed.subarray(0, HEADER_BYTES)
    const flip = (position: number) => {
      const altered = Buffer.from(sealed)
      altered[position]! ^= 1
      return altered
    }

    it.each<[string, () => Buffer, RegExp]>([
      [
        'an altered chunk',
        () => flip(HEADER_BYTES + SEALED_CHUNK_BYTES + 5),
        /altered or truncated/,
      ],
      [
        'an altered salt',
        () => flip(HEADER_BYTES - 1),
        /the passphrase is wrong, or it was altered/,
      ],
      ['an altered reserved byte', () => flip(11), /the passphrase is wrong, or it was altered/],
      [
        'an excessive cost',
        () => Buffer.concat([sealed.subarray(0, 8), Buffer.of(60), sealed.subarray(9)]),
        /header is damaged/,
      ],
      [
        'exchanged chunks',
        () => Buffer.concat([header(), chunk(1), chunk(0), chunk(2)]),
        /passphrase is wrong/,
      ],
      [
        'a missing chunk',
        () => Buffer.concat([header(), chunk(0), chunk(2)]),
        /altered or truncated/,
      ],
      [
        'a missing last chunk',
        () => Buffer.concat([header(), chunk(0), chunk(1)]),
        /altered or truncated/,
      ],
      ['a truncated chunk', () => sealed.subarray(0, sealed.length - 1), /altered or truncated/],
      ['only a header', () => header(), /it is truncated/],
      ['half a header', () => sealed.subarray(0, 20), /it is truncated/],
      ['appended bytes', () => Buffer.concat([sealed, Buffer.of(0)]), /altered or truncated/],
    ])('and rejects %s', async (_, change, reason) => {
      await expect(decrypt(change())).rejects.toThrow(reason)
    })

    it('and rejects a wrong passphrase', async () => {
      await expect(decrypt(sealed, 'correct horse battery stable')).rejects.toThrow(
        'the passphrase is wrong',
      )
    })
  })
})
