// @module-tag long

import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { APPLICATION_NAME } from '../../services/management/db/application-database.ts'
import { createDatabase, type Database } from '../../services/management/db/database.ts'
import { insertRecords } from '../fixtures/management/records.ts'
import { findFreePort } from '../fixtures/network/free-ports.ts'
import { type ServiceProcess, startService } from '../fixtures/processes/service-process.ts'
import { insertDeliveries, readDeliveries } from '../fixtures/scheduler/insert-deliveries.ts'
import { startSchedulerProcess } from '../fixtures/scheduler/run-scheduler.ts'
import { SCHEDULER_TOKEN } from '../fixtures/scheduler/scheduler-api.ts'
import { startWebhookReceiver } from '../fixtures/scheduler/webhook-receiver.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'

const isLong = process.env.EYRIE_LONG === '1'
/** Every fourth kill is one of management. */
const KILLS = isLong ? 20 : 8
/** As many kills as moments, from before the first call to after the last one. */
const DELIVERIES_PER_KILL = isLong ? 10 : 7
const LONG_MS = 600_000
const WAIT = { timeout: 200_000, interval: 100 }

/** Starts a process, and replaces it when it is killed. */
async function keepRunning(start: () => Promise<ServiceProcess>) {
  let current = await start()
  onTestFinished(() => current.stop())
  return {
    get process() {
      return current
    },
    async replace() {
      await current.kill()
      current = await start()
    },
  }
}

describe('deliveries', () => {
  it(
    'reach their receiver with one id each, although scheduler and management are killed at any moment',
    async () => {
      const data = createTemporaryFolder()
      const port = String(await findFreePort())
      const management = await keepRunning(() =>
        startService('management', {
          EYRIE_DATA: data,
          EYRIE_MANAGEMENT_PORT: port,
          EYRIE_SCHEDULER_TOKEN: SCHEDULER_TOKEN,
        }),
      )
      const { url } = management.process
      const database = await connect(data, url)
      const records = await insertRecords(database)
      const scheduler = await keepRunning(() => startSchedulerProcess(url))
      // A receiver that is slow enough to be interrupted.
      const receiver = await startWebhookReceiver(response =>
        setImmediate(() => response.end('ok')),
      )

      const ids: string[] = []
      for (let kill = 0; kill < KILLS; kill += 1) {
        const actions = Array.from({ length: DELIVERIES_PER_KILL }, () => ({
          action_url: receiver.url,
        }))
        const before = receiver.calls.length
        ids.push(...(await insertDeliveries(database, records, actions)))
        // The moment of the kill moves from before the first call to after the last one.
        const moment = kill % (DELIVERIES_PER_KILL + 1)
        await vi.waitUntil(() => receiver.calls.length >= before + moment, WAIT)
        const killed = kill % 4 === 3 ? management : scheduler
        await killed.replace()
        if (killed === management) await waitForDatabase(url)
      }

      await vi.waitFor(async () => {
        const rows = await readDeliveries(database, ids)
        expect(rows.filter(({ state }) => state !== 'delivered')).toEqual([])
      }, WAIT)
      const received = new Set(receiver.calls.map(({ headers }) => headers['webhook-id']))
      expect(received).toEqual(new Set(ids))
      expect(ids).toHaveLength(KILLS * DELIVERIES_PER_KILL)
    },
    LONG_MS,
  )
})

const waitForDatabase = (url: string) =>
  vi.waitUntil(async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text()
    return metrics.includes('eyrie_management_database_up 1')
  }, WAIT)

/** Connects to the database of a management service when it is ready. */
async function connect(data: string, url: string): Promise<Database> {
  await waitForDatabase(url)
  const path = join(data, 'postgres/data/.s.PGSQL.5432')
  const database = await createDatabase({
    path,
    user: APPLICATION_NAME,
    database: APPLICATION_NAME,
  })
  onTestFinished(() => database.close())
  return database
}
