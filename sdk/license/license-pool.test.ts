import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createIssuer, readPool, signPool } from './license-pool.ts'

const issuer = createIssuer()
const entries = [
  { customer: 'acme', subscription: 'gold', pool: 'box-1' },
  { customer: 'acme', subscription: 'gold', pool: 'büro', until: '2030-01-01T00:00:00Z' },
]

describe('a license pool', () => {
  test('is read as it was signed', () => {
    expect(readPool(signPool(entries, issuer.privateKey), issuer.publicKey)).toEqual(entries)
  })

  test('that another has signed is refused', () => {
    const other = createIssuer()
    expect(() => readPool(signPool(entries, other.privateKey), issuer.publicKey)).toThrow('does not fit')
  })

  test('that was changed is refused', () => {
    const changed = signPool(entries, issuer.privateKey).replace('box-1', 'box-2')
    expect(() => readPool(changed, issuer.publicKey)).toThrow('does not fit')
  })

  test('signed with a key of another kind is refused on both sides', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', {
      namedCurve: 'prime256v1',
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    expect(() => signPool(entries, privateKey)).toThrow('no Ed25519 key')
    expect(() => readPool(signPool(entries, issuer.privateKey), publicKey)).toThrow('does not fit')
  })

  test('names the entry that is malformed', () => {
    expect(() => signPool([{ ...entries[0], until: 'tomorrow' }], issuer.privateKey)).toThrow('/0/until')
    expect(() => signPool([{ customer: 'acme' }], issuer.privateKey)).toThrow('/0/subscription')
  })
})
