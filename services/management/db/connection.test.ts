import { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTestDatabase } from '../../../test/fixtures/management/test-database.ts'
import { shared } from '../../../test/fixtures/setup/shared.ts'
import { connect } from './connection.ts'
import { withTransaction } from './transaction.ts'

const testDatabase = shared(createTestDatabase, ({ remove }) => remove())
const onUncaughtException = vi.fn()

beforeEach(() => {
  onUncaughtException.mockClear()
  process.on('uncaughtException', onUncaughtException)
  onTestFinished(() => {
    process.off('uncaughtException', onUncaughtException)
  })
})

/** Opens a connection, and returns how the server terminates it. */
async function openConnection() {
  const [sql, administration] = [connect(testDatabase.target), connect(testDatabase.target)]
  const [backend] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  const terminate = (pid: number) => administration`select pg_terminate_backend(${pid})`
  // Prepares the statement, so that the call below takes one round trip.
  await terminate(0)
  onTestFinished(() => administration.end())
  return { sql, terminate: () => terminate(backend!.pid) }
}

describe('connection terminated by the server', () => {
  it('rejects the transaction without crashing the process', async () => {
    const { sql, terminate } = await openConnection()
    const work = withTransaction(sql, async () => {
      await Promise.all([sql`select pg_sleep(60)`, terminate()])
    })
    await expect(work).rejects.toMatchObject({
      code: expect.stringMatching(/CONNECTION_CLOSED|ECONNRESET|EPIPE/),
    })
    await nextTurn()
    await nextTurn()
    expect(onUncaughtException).not.toHaveBeenCalled()
  })

  it('rejects the transaction if the connection is reset', async () => {
    const connectSocket = vi.spyOn(Socket.prototype, 'connect')
    const { sql } = await openConnection()
    const socket = connectSocket.mock.contexts[0] as Socket
    connectSocket.mockRestore()
    const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
    const work = withTransaction(sql, async () => {
      const query = sql`select pg_sleep(60)`.execute()
      socket.destroy(reset)
      await query
    })
    await expect(work).rejects.toBe(reset)
    expect(onUncaughtException).not.toHaveBeenCalled()
  })

  it('does not reconnect for queued queries', async () => {
    const { sql, terminate } = await openConnection()
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const connectSocket = vi.spyOn(Socket.prototype, 'connect')
    const onRejected = vi.fn()
    for (const seconds of [60, 61, 62]) sql`select pg_sleep(${seconds}::int)`.catch(onRejected)
    await terminate()
    await vi.waitUntil(() => onRejected.mock.calls.length === 3)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(connectSocket).not.toHaveBeenCalled()
    expect(onUncaughtException).not.toHaveBeenCalled()
  })
})
