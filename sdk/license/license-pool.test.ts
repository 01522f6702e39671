import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { generateIssuerKeys, readPool, signPool } from './license-pool.ts'

const issuer = generateIssuerKeys()
const entries = [
  { customer: 'acme', subscription: 'gold', pool: 'box-1' },
  { customer: 'acme', subscription: 'gold', pool: 'büro', until: '2030-01-01T00:00:00Z' },
]

describe('license pool', () => {
  it('returns the entries that were signed', () => {
    expect(readPool(signPool(entries, issuer.privateKey), issuer.publicKey)).toEqual(entries)
  })

  it('rejects a pool of another issuer', () => {
    const other = generateIssuerKeys()
    expect(() => readPool(signPool(entries, other.privateKey), issuer.publicKey)).toThrow(
      'does not match',
    )
  })

  it('rejects a modified pool', () => {
    const changed = signPool(entries, issuer.privateKey).replace('box-1', 'box-2')
    expect(() => readPool(changed, issuer.publicKey)).toThrow('does not match')
  })

  it('rejects keys of another type when signing and reading', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', {
      namedCurve: 'prime256v1',
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    })
    expect(() => signPool(entries, privateKey)).toThrow('not an Ed25519 key')
    expect(() => readPool(signPool(entries, issuer.privateKey), publicKey)).toThrow(
      'does not match',
    )
  })

  it('names a malformed entry', () => {
    expect(() => signPool([{ ...entries[0], until: 'tomorrow' }], issuer.privateKey)).toThrow(
      '/0/until',
    )
    expect(() => signPool([{ customer: 'acme' }], issuer.privateKey)).toThrow('/0/subscription')
  })
})
