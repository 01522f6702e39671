import { randomUUID } from 'node:crypto'
import { createLog } from '@eyrie/kit'
import { eq } from 'drizzle-orm'
import { v7 } from 'uuid'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type ServedOutput, serveOutput } from '../../../test/fixtures/engine/served-output.ts'
import { useIngestDatabase } from '../../../test/fixtures/management/ingest-database.ts'
import { alert, engineState, lease } from '../db/schema/index.ts'
import { createOutputFollower } from '../fleet/connection/output-follower.ts'
import { createLeases } from '../leases/leases.ts'
import { evaluateByTime } from './evaluate-by-time.ts'

const WAIT = { timeout: 30_000, interval: 20 }
const fixture = useIngestDatabase()
let served: ServedOutput

beforeEach(async () => {
  served = await serveOutput()
  await fixture.database.system('test', async tx => {
    await tx.insert(engineState).values({ engine_id: fixture.engine.engine_id, engine_status: 1 })
    await tx.insert(alert).values({
      alert_id: v7(),
      channel_id: fixture.channel_id,
      alert_name: 'Nobody at the door',
      alert_priority: 'low',
      alert_actions: [],
      alert_threshold: '1',
      alert_threshold_condition: 'lt',
      alert_threshold_key: 'total',
      alert_frequency: 0,
    })
  })
})

const readLease = () =>
  fixture.database.system('test', async tx => {
    const rows = await tx.select().from(lease).where(eq(lease.subject, fixture.engine.engine_id))
    return rows[0]
  })

/** Adds a person who has passed the door ten seconds ago to the output of the engine. */
function publishCrossing(): Promise<void> {
  served.output.publish({
    kind: 'event',
    channel: 1,
    source: 1,
    pipeline: 1,
    pts: 0,
    epoch: 1,
    time: new Date(Date.now() - 10_000).toISOString(),
    data: { type: 'line-crossing', name: 'door', direction: 'up', track: 1, class: 'person' },
  })
  return vi.waitFor(() => expect(served.output.status().newest).toBe(1))
}

/**
 * Follows the output of the engine from its beginning, with leases as a management service has
 * them. Resolves when the lease is held. Nothing is stored before `release` is called.
 */
async function followOutput() {
  const gate = Promise.withResolvers<void>()
  const follower = createOutputFollower({
    engine: served.connect(),
    onHello: async () => {},
    async consume(messages) {
      await gate.promise
      return fixture.consume(messages)
    },
  })
  follower.follow({ log_id: '', seq: 0 }).catch(() => {})

  const log = createLog('test', 'silent')
  const leases = createLeases({ instance_id: randomUUID(), host_name: '', log })
  leases.onRenewal((_, database) =>
    leases.recordStoredUntil(database, () => {
      const delayMs = follower.getDelayMs()
      return new Map(delayMs === undefined ? [] : [[fixture.engine.engine_id, delayMs]])
    }),
  )
  onTestFinished(leases.start(fixture.database))
  await vi.waitFor(async () => expect(await readLease()).toBeDefined(), WAIT)
  return { release: gate.resolve }
}

const untilStored = () =>
  vi.waitFor(async () => expect((await readLease())?.stored_until).not.toBeNull(), WAIT)

describe('alert evaluation by time after an outage', () => {
  it('does not fire for people who have passed during the outage', async () => {
    await publishCrossing()
    const { release } = await followOutput()
    await evaluateByTime(fixture.database, Date.now())
    expect(await fixture.readNotifications()).toEqual([])

    release()
    await untilStored()
    await evaluateByTime(fixture.database, Date.now())
    expect(await fixture.readEvents()).toHaveLength(1)
    expect(await fixture.readNotifications()).toEqual([])
  })

  it('fires as soon as all messages are stored and none reports a person', async () => {
    const { release } = await followOutput()
    await evaluateByTime(fixture.database, Date.now())
    expect(await fixture.readNotifications()).toEqual([])

    release()
    await untilStored()
    await vi.waitFor(async () => {
      await evaluateByTime(fixture.database, Date.now())
      expect(await fixture.readNotifications()).toHaveLength(1)
    }, WAIT)
  })

  it('does not fire while no service follows an engine that is stored as online', async () => {
    await evaluateByTime(fixture.database, Date.now())
    expect(await fixture.readNotifications()).toEqual([])
  })
})
