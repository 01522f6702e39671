import { expect, it } from 'vitest'
import { reasonOf } from './reason.ts'

it.each([
  [{ attempts: 7, next_try_s: 12 }, 'refused', 'attempt 7 failed, next try in 12 s: refused'],
  [{ attempts: 8 }, 'refused', 'attempt 8 failed, trying again: refused'],
  [{ attempts: 1 }, undefined, 'attempt 1 failed, trying again'],
  [{}, 'refused', 'refused'],
  [{}, undefined, undefined],
])('of a source with %j whose channel says %j it says %j', (retries, reason, said) => {
  expect(reasonOf({ reason, source: { id: 1, name: 'door', ...retries } })).toBe(said)
})
