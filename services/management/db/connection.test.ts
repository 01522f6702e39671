import { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTestDatabase } from '../../../test/fixtures/management-database.ts'
import { shared } from '../../../test/fixtures/shared.ts'
import { connect } from './connection.ts'
import { inTransaction } from './transaction.ts'

const its = shared(createTestDatabase, ({ remove }) => remove())
const crash = vi.fn()

beforeEach(() => {
  crash.mockClear()
  process.on('uncaughtException', crash)
  onTestFinished(() => {
    process.off('uncaughtException', crash)
  })
})

/** A connection, and how the server ends it. What is to be done later waits from now on, and what is next comes first. */
async function connection() {
  const [sql, killer] = [connect(its.target), connect(its.target)]
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  const end = (pid: number) => killer`select pg_terminate_backend(${pid})`
  await end(0)
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(async () => {
    vi.useRealTimers()
    await killer.end()
  })
  return { sql, end: () => end(backend!.pid) }
}

describe('a connection that the server ends', () => {
  test('takes the transaction on it along, and nothing else', async () => {
    const { sql, end } = await connection()
    const work = inTransaction(sql, async () => {
      await Promise.all([sql`select pg_sleep(60)`, end()])
    })
    await expect(work).rejects.toMatchObject({ code: expect.stringMatching(/CONNECTION_CLOSED|ECONNRESET/) })
    await turn()
    await turn()
    expect(crash).not.toHaveBeenCalled()
  })

  test('is not made anew for queries that waited for it', async () => {
    const { sql, end } = await connection()
    const made = vi.spyOn(Socket.prototype, 'connect')
    const refused = vi.fn()
    for (const seconds of [60, 61, 62]) sql`select pg_sleep(${seconds}::int)`.catch(refused)
    await end()
    await vi.waitUntil(() => refused.mock.calls.length === 3)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(made).not.toHaveBeenCalled()
    expect(crash).not.toHaveBeenCalled()
  })
})
