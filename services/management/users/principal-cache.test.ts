import { expect, test, vi } from 'vitest'
import type { Principal } from '../rights/principal.ts'
import { createPrincipalCache } from './principal-cache.ts'

const caller = { user_id: 'u', actor: 'a@eyrie.test', role: 'viewer' } as Principal
const session = { user_id: 'u', session_id: 's' }
const START = Date.UTC(2026, 0, 1)

function remembering() {
  let time = START
  const callers = createPrincipalCache(() => new Date(time))
  return {
    callers,
    pass: (ms: number) => {
      time += ms
    },
  }
}

test('who has just called is not looked up again, until a second has passed', async () => {
  const { callers, pass } = remembering()
  const look = vi.fn(async () => caller)
  await callers.find(session, look)
  pass(999)
  expect(await callers.find(session, look)).toBe(caller)
  expect(look).toHaveBeenCalledTimes(1)
  pass(1)
  await callers.find(session, look)
  expect(look).toHaveBeenCalledTimes(2)
})

test('after a change everybody is looked up again', async () => {
  const { callers } = remembering()
  await callers.find(session, async () => caller)
  callers.clear()
  expect(await callers.find(session, async () => undefined)).toBeUndefined()
})

test('what was looked up while something changed is not remembered', async () => {
  const { callers } = remembering()
  const looking = Promise.withResolvers<Principal>()
  const found = callers.find(session, () => looking.promise)
  callers.clear()
  looking.resolve(caller)
  await found
  expect(await callers.find(session, async () => undefined)).toBeUndefined()
})

test('a refusal is not remembered', async () => {
  const { callers } = remembering()
  await callers.find(session, async () => undefined)
  expect(await callers.find(session, async () => caller)).toBe(caller)
})

test('a session of one is not taken for another’s', async () => {
  const { callers } = remembering()
  await callers.find(session, async () => caller)
  expect(await callers.find({ ...session, user_id: 'v' }, async () => undefined)).toBeUndefined()
})
