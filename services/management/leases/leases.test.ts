import { randomUUID } from 'node:crypto'
import { createLog } from '@eyrie/kit'
import { eq, sql } from 'drizzle-orm'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { insertEngine } from '../../../test/fixtures/management/engine-messages.ts'
import { createTestDatabase } from '../../../test/fixtures/management/test-database.ts'
import type { Database } from '../db/database.ts'
import { lease, managementInstance } from '../db/schema/index.ts'
import { getInstanceId } from './instance-id.ts'
import { BACKGROUND, type HeldLeases } from './lease-store.ts'
import { createLeases, guardByLease, LeaseLostError } from './leases.ts'

const log = createLog('management', 'silent')
const WAIT = { timeout: 60_000, interval: 50 }

async function openDatabase(): Promise<Database> {
  const { database, remove } = await createTestDatabase()
  onTestFinished(remove)
  return database
}

/** Starts an instance on a database. `held` returns its leases. */
function startInstance(database: Database) {
  const instanceId = randomUUID()
  const leases = createLeases({ instance_id: instanceId, host_name: '', log })
  let last: HeldLeases | undefined
  leases.onRenewal(async (held, connected) => {
    last = held
    await leases.release(connected, held.excess)
  })
  const stop = leases.start(database)
  onTestFinished(stop)
  return { instance_id: instanceId, leases, stop, held: () => [...(last?.subjects ?? [])].sort() }
}

/** Makes an instance look as if it had been killed a while ago. */
const expire = (database: Database, instanceId: string) =>
  database.system('test', tx =>
    tx
      .update(managementInstance)
      .set({ alive_until: sql`now() - interval '1 second'` })
      .where(eq(managementInstance.instance_id, instanceId)),
  )

describe('leases', () => {
  it('belong to one of two instances, and to the other one when it stops', async () => {
    const database = await openDatabase()
    const { engine_id: engineId } = await insertEngine(database)
    const first = startInstance(database)
    await vi.waitFor(() => expect(first.held()).toEqual([engineId, BACKGROUND].sort()), WAIT)
    const second = startInstance(database)
    await vi.waitFor(async () => {
      const instances = await database.system('test', tx => tx.select().from(managementInstance))
      expect(instances).toHaveLength(2)
    }, WAIT)
    expect(second.held()).toEqual([])
    expect(second.leases.runsBackground()).toBe(false)

    await first.stop()
    await vi.waitFor(() => expect(second.held()).toEqual([engineId, BACKGROUND].sort()), WAIT)
    await second.leases.waitForBackground(new AbortController().signal)
    expect(second.leases.runsBackground()).toBe(true)
  })

  it('are shared equally when an instance starts', async () => {
    const database = await openDatabase()
    const engines = [await insertEngine(database), await insertEngine(database)]
    const first = startInstance(database)
    await vi.waitFor(() => expect(first.held()).toHaveLength(3), WAIT)
    const second = startInstance(database)
    await vi.waitFor(() => expect(second.held()).toHaveLength(1), WAIT)
    expect(engines.map(({ engine_id }) => engine_id)).toContain(second.held()[0])
  })

  it('of an instance that no longer renews its row are taken over', async () => {
    const database = await openDatabase()
    const { engine_id: engineId } = await insertEngine(database)
    const dead = randomUUID()
    await database.system('test', async tx => {
      await tx
        .insert(managementInstance)
        .values({ instance_id: dead, alive_until: sql`now() + interval '1 hour'` })
      await tx.insert(lease).values({ subject: engineId, instance_id: dead })
    })
    const successor = startInstance(database)
    await vi.waitFor(() => expect(successor.held()).toEqual([BACKGROUND]), WAIT)
    await expire(database, dead)
    await vi.waitFor(() => expect(successor.held()).toEqual([engineId, BACKGROUND].sort()), WAIT)
  })

  it('reject transactions of an instance whose work another one has taken over', async () => {
    const database = await openDatabase()
    const { engine_id: engineId } = await insertEngine(database)
    const { instance_id: instanceId, held } = startInstance(database)
    await vi.waitFor(() => expect(held()).toContain(engineId), WAIT)
    const guarded = guardByLease(database, instanceId, engineId)
    expect(await guarded.system('test', async () => 'done')).toBe('done')
    await database.system('test', async tx => {
      const other = randomUUID()
      await tx
        .insert(managementInstance)
        .values({ instance_id: other, alive_until: sql`now() + interval '1 hour'` })
      await tx.update(lease).set({ instance_id: other }).where(eq(lease.subject, engineId))
    })
    await expect(guarded.system('test', async () => 'done')).rejects.toThrow(LeaseLostError)
  })
})

describe('the id of an instance', () => {
  it('is the same after a restart at the same address, and another one elsewhere', () => {
    const id = getInstanceId('127.0.0.1', 8080)
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/)
    expect(getInstanceId('127.0.0.1', 8080)).toBe(id)
    expect(getInstanceId('127.0.0.1', 8081)).not.toBe(id)
    expect(getInstanceId('127.0.0.2', 8080)).not.toBe(id)
    expect(getInstanceId('127.0.0.1', 0)).not.toBe(getInstanceId('127.0.0.1', 0))
  })
})
