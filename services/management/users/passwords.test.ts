import { describe, expect, it } from 'vitest'
import { createPasswords } from './passwords.ts'

describe('passwords', () => {
  it('match only their own hash, and never a missing hash', async () => {
    const passwords = await createPasswords()
    const encoded = await passwords.hash('correct horse')
    expect(encoded).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    expect(await passwords.verify(encoded, 'correct horse')).toBe(true)
    expect(await passwords.verify(encoded, 'another horse')).toBe(false)
    expect(await passwords.verify(undefined, 'correct horse')).toBe(false)
    expect(passwords.hashCount).toBe(4)
  })

  it('wait for a free slot, and are rejected without hashing if too many are waiting', {
    timeout: 120_000,
  }, async () => {
    const passwords = await createPasswords()
    const attempts = Array.from({ length: 80 }, () => passwords.verify(undefined, 'guess'))
    const outcomes = await Promise.allSettled(attempts)
    const rejected = outcomes.filter(({ status }) => status === 'rejected')
    expect(rejected).toHaveLength(80 - passwords.hashCount)
    expect(passwords.hashCount).toBe(2 + 64)
    expect(rejected[0]).toMatchObject({ reason: { code: 'unavailable' } })
  })
})
