import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createLog } from '@eyrie/kit'
import { describe, expect, it, vi } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { createLocalSessions, LOCAL_SESSION_MS } from './local-sessions.ts'

const log = createLog('management', 'silent')

function createStore(file = join(createTemporaryFolder(), 'management/local-sessions.json')) {
  const clock = { now: Date.parse('2026-01-01T00:00:00Z') }
  const open = () => createLocalSessions({ file, log, now: () => new Date(clock.now) })
  return { file, clock, open, sessions: open() }
}

describe('local sessions', () => {
  it('start with a key that works once', async () => {
    const { sessions } = createStore()
    const key = sessions.createKey()
    expect(await sessions.start(`${key}x`)).toBeUndefined()
    const [first, second] = await Promise.all([sessions.start(key), sessions.start(key)])
    expect([sessions.isActive(first), second]).toEqual([true, undefined])
    expect([undefined, '', key].map(sessions.isActive)).toEqual([false, false, false])
  })

  it('are stored as hashes that only the owner can read', async () => {
    const { file, sessions, open } = createStore()
    const token = await sessions.start(sessions.createKey())
    expect(readFileSync(file, 'utf8')).not.toContain(token)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(open().isActive(token)).toBe(true)
  })

  it('end after a year, by signing out, or when many others have started', async () => {
    const { clock, sessions, open } = createStore()
    const startOne = () => sessions.start(sessions.createKey())
    const [first, second] = [await startOne(), await startOne()]
    await sessions.end(first!)
    expect([sessions.isActive(first), open().isActive(first), sessions.isActive(second)]).toEqual([
      false,
      false,
      true,
    ])
    clock.now += LOCAL_SESSION_MS
    expect(sessions.isActive(second)).toBe(false)
    const third = await startOne()
    for (let i = 0; i < 99; i += 1) await startOne()
    expect(sessions.isActive(third)).toBe(true)
    await startOne()
    expect(sessions.isActive(third)).toBe(false)
  })

  it('apply until a restart if they cannot be stored', async () => {
    const { file, sessions, open } = createStore()
    mkdirSync(file, { recursive: true })
    const token = await sessions.start(sessions.createKey())
    expect([sessions.isActive(token), open().isActive(token)]).toEqual([true, false])
  })

  it.each(['', '{', '[{"token_hash": 1}]'])(
    'begin anew after the file was damaged: %s',
    async content => {
      const { file, open } = createStore()
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, content)
      const sessions = open()
      expect(sessions.isActive(await sessions.start(sessions.createKey()))).toBe(true)
    },
  )

  it('are missing without a warning before the first one, and with one if the file is damaged', () => {
    const { file } = createStore()
    const warn = vi.fn()
    createLocalSessions({ file, log: { warn } })
    expect(warn).not.toHaveBeenCalled()
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, '{')
    createLocalSessions({ file, log: { warn } })
    expect(warn).toHaveBeenCalledWith(
      { err: expect.any(SyntaxError), file },
      'failed to read the sessions of local browsers',
    )
  })

  it('cannot be started with a key when many newer ones exist', async () => {
    const { sessions } = createStore()
    const [oldest, ...newer] = Array.from({ length: 17 }, () => sessions.createKey())
    expect(await sessions.start(oldest!)).toBeUndefined()
    expect(await sessions.start(newer[0]!)).toBeDefined()
  })
})
