import { expect, test } from 'vitest'
import { createPasswords } from './passwords.ts'

test('a password is known by its hash, and nothing by none', async () => {
  const passwords = await createPasswords()
  const encoded = await passwords.hash('correct horse')
  expect(encoded).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(await passwords.verify(encoded, 'correct horse')).toBe(true)
  expect(await passwords.verify(encoded, 'another horse')).toBe(false)
  expect(await passwords.verify(undefined, 'correct horse')).toBe(false)
  expect(passwords.computed).toBe(4)
})

test('a few wait their turn, and more are sent away without any work', { timeout: 120_000 }, async () => {
  const passwords = await createPasswords()
  const all = Array.from({ length: 80 }, () => passwords.verify(undefined, 'guess'))
  const settled = await Promise.allSettled(all)
  const refused = settled.filter(({ status }) => status === 'rejected')
  expect(refused).toHaveLength(80 - passwords.computed)
  expect(passwords.computed).toBe(2 + 64)
  expect(refused[0]).toMatchObject({ reason: { code: 'unavailable' } })
})
