import { createLog } from '@eyrie/kit'
import { asc, eq } from 'drizzle-orm'
import { v7 } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import { createTeller, type HeardEngine } from '../../../test/fixtures/heard-channel.ts'
import { useHeardDatabase } from '../../../test/fixtures/heard-database.ts'
import type { TestDatabase } from '../../../test/fixtures/management-database.ts'
import { alert, engineState, notification } from '../db/schema/index.ts'
import { createIngest } from '../events/ingest/ingest.ts'
import { evaluateByTime } from './evaluate-by-time.ts'
import { alertSubscriber } from './evaluate-messages.ts'

const begin = Date.parse('2026-03-04T12:00:00Z')
const second = 1000

let its: TestDatabase
let heard: HeardEngine
let channel_id: string
useHeardDatabase(here => {
  ;({ its, heard, channel_id } = here)
})
beforeEach(() => setStatus(1))

const setStatus = (engine_status: number) =>
  its.database.system('test', tx =>
    tx
      .insert(engineState)
      .values({ engine_id: heard.engine_id, engine_status })
      .onConflictDoUpdate({ target: engineState.engine_id, set: { engine_status } }),
  )

async function insertAlert(fields: Partial<typeof alert.$inferInsert> = {}): Promise<string> {
  const alert_id = v7()
  await its.database.system('test', tx =>
    tx.insert(alert).values({
      ...{ alert_id, channel_id, alert_name: 'Quiet', alert_priority: 'low', alert_actions: [] },
      ...{ alert_threshold: '1', alert_threshold_condition: 'lt', alert_threshold_key: 'total' },
      alert_frequency: 0,
      ...fields,
    }),
  )
  return alert_id
}

const consume = (messages: Parameters<ReturnType<typeof createIngest>['consume']>[1]) =>
  createIngest({
    database: its.database,
    subscribers: [alertSubscriber],
    log: createLog('test', 'silent'),
  }).consume(heard.engine_id, messages)

/** Looks at the alerts at these seconds. What is told then comes two seconds late. */
const lookAt = async (...seconds: number[]) => {
  for (const at of seconds) await evaluateByTime(its.database, begin + (at + 2) * second)
}

const fired = async () => {
  const rows = await its.database.system('test', tx =>
    tx
      .select()
      .from(notification)
      .where(eq(notification.channel_id, channel_id))
      .orderBy(asc(notification.notification_time)),
  )
  return rows.map(({ notification_time, value }) => [(notification_time.getTime() - begin) / second, value])
}

describe('as time passes, an alert', () => {
  it('fires when nothing has happened for long enough, and once', async () => {
    await insertAlert()
    const { hello, crossing } = createTeller()
    await consume([hello(), crossing(1, begin)])
    await lookAt(1, 30, 59, 60, 61, 200)
    expect(await fired()).toEqual([[60, 0]])
  })

  it('fires again when it was over in between', async () => {
    await insertAlert()
    const { hello, crossing } = createTeller()
    await consume([hello()])
    await lookAt(0)
    await consume([crossing(1, begin + 10 * second)])
    await lookAt(11, 71)
    expect(await fired()).toEqual([
      [0, 0],
      [71, 0],
    ])
  })

  it('has fired already on what a message told of a moment that is yet to be looked at', async () => {
    await insertAlert({ alert_threshold_condition: 'gte' })
    const { hello, crossing } = createTeller()
    await consume([hello(), crossing(1, begin)])
    await lookAt(-2, -1, 0, 1, 59, 60, 61)
    await consume([crossing(1, begin + 100 * second)])
    await lookAt(99, 100, 101)
    expect(await fired()).toEqual([
      [0, 1],
      [100, 1],
    ])
  })

  it('does not fire on what was over before a message, once that has come', async () => {
    await insertAlert()
    await lookAt(0)
    const { hello, crossing } = createTeller()
    await consume([hello(), crossing(1, begin + 10 * second)])
    await lookAt(8, 9, 10, 11, 69)
    expect(await fired()).toEqual([[0, 0]])
    await lookAt(70)
    expect(await fired()).toEqual([
      [0, 0],
      [70, 0],
    ])
  })

  it('fires while its condition holds, as often as its frequency allows', async () => {
    await insertAlert({ alert_frequency: 30 })
    await lookAt(...Array.from({ length: 71 }, (_, n) => n))
    expect((await fired()).map(([at]) => at)).toEqual([0, 30, 60])
  })

  it('fires on an occupancy that stays as it is', async () => {
    await insertAlert({
      ...{ alert_threshold_key: 'occupancy', alert_threshold_condition: 'gte', alert_threshold: '5' },
      alert_frequency: 100,
    })
    const { hello, occupancy } = createTeller()
    await consume([hello(), occupancy(1, begin, 7)])
    await lookAt(50, 100, 150, 200)
    expect(await fired()).toEqual([
      [0, 7],
      [100, 7],
      [200, 7],
    ])
  })

  it('sees the moving average come to the occupancy', async () => {
    await insertAlert({
      ...{
        alert_threshold_key: 'moving_average_count',
        alert_threshold_condition: 'gt',
        alert_threshold: '5',
      },
    })
    const { hello, occupancy } = createTeller()
    await consume([hello(), occupancy(1, begin - second, 0), occupancy(1, begin, 10)])
    // 10 (1 - 1 / e^(t / 60)) is 5 after 41.6 seconds.
    await lookAt(20, 41, 42, 43)
    expect((await fired()).map(([at]) => at)).toEqual([42])
  })

  it('waits while its engine is not heard, or it is not active', async () => {
    const alert_id = await insertAlert()
    await setStatus(2)
    await lookAt(0, 100)
    expect(await fired()).toEqual([])
    await setStatus(1)
    await its.database.system('test', tx =>
      tx.update(alert).set({ is_active: false }).where(eq(alert.alert_id, alert_id)),
    )
    await lookAt(200)
    expect(await fired()).toEqual([])
  })

  it('does not know a mean of nothing, nor an occupancy that was never told', async () => {
    await insertAlert({
      alert_threshold_key: 'dwell_time',
      alert_threshold_condition: 'lt',
      alert_threshold: '5',
    })
    await insertAlert({
      alert_threshold_key: 'occupancy',
      alert_threshold_condition: 'eq',
      alert_threshold: '0',
    })
    await lookAt(0, 100)
    expect(await fired()).toEqual([])
  })

  it('fires once though two look at a time', async () => {
    await insertAlert({ alert_frequency: 30 })
    await Promise.all([1, 2, 3, 4].map(() => lookAt(0)))
    expect(await fired()).toEqual([[0, 0]])
  })

  it('counts the alerts that have fired on its channel', async () => {
    await insertAlert({ alert_frequency: 1 })
    const watching = await insertAlert({
      ...{ alert_threshold_key: 'alert', alert_threshold_condition: 'gte', alert_threshold: '3' },
      alert_frequency: 3600,
    })
    await lookAt(0, 1, 2, 3, 4)
    const rows = await its.database.system('test', tx =>
      tx.select().from(notification).where(eq(notification.alert_id, watching)),
    )
    expect(rows).toMatchObject([{ threshold_key: 'alert', value: 3 }])
  })
})
