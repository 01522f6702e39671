import { ENGINE_STATUS } from '@eyrie/contract/management/index'
import { eq } from 'drizzle-orm'
import { v7 } from 'uuid'
import { beforeEach, describe, expect, it } from 'vitest'
import { createMessageFactory } from '../../../test/fixtures/management/engine-messages.ts'
import { useIngestDatabase } from '../../../test/fixtures/management/ingest-database.ts'
import { alert, notification } from '../db/schema/index.ts'
import { evaluateByTime } from './evaluate-by-time.ts'

const begin = Date.parse('2026-03-04T12:00:00Z')
const second = 1000

const fixture = useIngestDatabase()
beforeEach(() => fixture.setStatus(ENGINE_STATUS.online))

async function insertAlert(fields: Partial<typeof alert.$inferInsert> = {}): Promise<string> {
  const alertId = v7()
  await fixture.database.system('test', tx =>
    tx.insert(alert).values({
      alert_id: alertId,
      channel_id: fixture.channel_id,
      alert_name: 'Quiet',
      alert_priority: 'low',
      alert_actions: [],
      alert_threshold: '1',
      alert_threshold_condition: 'lt',
      alert_threshold_key: 'total',
      alert_frequency: 0,
      ...fields,
    }),
  )
  return alertId
}

/**
 * Evaluates the alerts for these seconds. Evaluation waits two seconds, so that all messages of a
 * second have arrived.
 */
const evaluateAt = async (...seconds: number[]) => {
  for (const time of seconds) await evaluateByTime(fixture.database, begin + (time + 2) * second)
}

const readFired = async () => {
  const rows = await fixture.readNotifications()
  return rows.map(({ notification_time: notificationTime, value }) => [
    (notificationTime.getTime() - begin) / second,
    value,
  ])
}

describe('alert evaluation by time', () => {
  it('fires once when no event has occurred for long enough', async () => {
    await insertAlert()
    const { hello, crossing } = createMessageFactory()
    await fixture.consume([hello(), crossing(1, begin)])
    await evaluateAt(1, 30, 59, 60, 61, 200)
    expect(await readFired()).toEqual([[60, 0]])
  })

  it('fires again after its condition stopped holding in between', async () => {
    await insertAlert()
    const { hello, crossing } = createMessageFactory()
    await fixture.consume([hello()])
    await evaluateAt(0)
    await fixture.consume([crossing(1, begin + 10 * second)])
    await evaluateAt(11, 71)
    expect(await readFired()).toEqual([
      [0, 0],
      [71, 0],
    ])
  })

  it('does not fire again for a time that a message has already decided', async () => {
    await insertAlert({ alert_threshold_condition: 'gte' })
    const { hello, crossing } = createMessageFactory()
    await fixture.consume([hello(), crossing(1, begin)])
    await evaluateAt(-2, -1, 0, 1, 59, 60, 61)
    await fixture.consume([crossing(1, begin + 100 * second)])
    await evaluateAt(99, 100, 101)
    expect(await readFired()).toEqual([
      [0, 1],
      [100, 1],
    ])
  })

  it('does not fire for a time before the latest message', async () => {
    await insertAlert()
    await evaluateAt(0)
    const { hello, crossing } = createMessageFactory()
    await fixture.consume([hello(), crossing(1, begin + 10 * second)])
    await evaluateAt(8, 9, 10, 11, 69)
    expect(await readFired()).toEqual([[0, 0]])
    await evaluateAt(70)
    expect(await readFired()).toEqual([
      [0, 0],
      [70, 0],
    ])
  })

  it('fires while its condition holds, limited by its frequency', async () => {
    await insertAlert({ alert_frequency: 30 })
    await evaluateAt(...Array.from({ length: 71 }, (_, index) => index))
    expect((await readFired()).map(([time]) => time)).toEqual([0, 30, 60])
  })

  it('fires on an unchanged occupancy', async () => {
    await insertAlert({
      alert_threshold_key: 'occupancy',
      alert_threshold_condition: 'gte',
      alert_threshold: '5',
      alert_frequency: 100,
    })
    const { hello, occupancy } = createMessageFactory()
    await fixture.consume([hello(), occupancy(1, begin, 7)])
    await evaluateAt(50, 100, 150, 200)
    expect(await readFired()).toEqual([
      [0, 7],
      [100, 7],
      [200, 7],
    ])
  })

  it('continues after a clock that was two hours ahead has been corrected', async () => {
    await insertAlert({ alert_frequency: 30 })
    await evaluateAt(7200)
    await evaluateAt(0, 10, 30)
    expect((await readFired()).map(([time]) => time)).toEqual([0, 30, 7200])
  })

  it('follows the moving average as it approaches the occupancy', async () => {
    await insertAlert({
      alert_threshold_key: 'moving_average_count',
      alert_threshold_condition: 'gt',
      alert_threshold: '5',
    })
    const { hello, occupancy } = createMessageFactory()
    await fixture.consume([hello(), occupancy(1, begin - second, 0), occupancy(1, begin, 10)])
    // 10 (1 - 1 / e^(t / 60)) is 5 after 41.6 seconds.
    await evaluateAt(20, 41, 42, 43)
    expect((await readFired()).map(([time]) => time)).toEqual([42])
  })

  it('skips inactive alerts and those of offline engines', async () => {
    const alertId = await insertAlert()
    await fixture.setStatus(ENGINE_STATUS.offline)
    await evaluateAt(0, 100)
    expect(await readFired()).toEqual([])
    await fixture.setStatus(ENGINE_STATUS.online)
    await fixture.database.system('test', tx =>
      tx.update(alert).set({ is_active: false }).where(eq(alert.alert_id, alertId)),
    )
    await evaluateAt(200)
    expect(await readFired()).toEqual([])
  })

  it('does not fire on a mean without values or an unknown occupancy', async () => {
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
    await evaluateAt(0, 100)
    expect(await readFired()).toEqual([])
  })

  it('fires once when it is evaluated concurrently', async () => {
    await insertAlert({ alert_frequency: 30 })
    await Promise.all([1, 2, 3, 4].map(() => evaluateAt(0)))
    expect(await readFired()).toEqual([[0, 0]])
  })

  it('counts the notifications of its channel', async () => {
    await insertAlert({ alert_frequency: 1 })
    const counting = await insertAlert({
      alert_threshold_key: 'alert',
      alert_threshold_condition: 'gte',
      alert_threshold: '3',
      alert_frequency: 3600,
    })
    await evaluateAt(0, 1, 2, 3, 4)
    const rows = await fixture.database.system('test', tx =>
      tx.select().from(notification).where(eq(notification.alert_id, counting)),
    )
    expect(rows).toMatchObject([{ threshold_key: 'alert', value: 3 }])
  })
})
