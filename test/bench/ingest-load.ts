import { setTimeout as wait } from 'node:timers/promises'
import { createLog } from '@eyrie/kit'
import { v7 } from 'uuid'
import { alertSubscriber } from '../../services/management/alerts/evaluate-messages.ts'
import { APPLICATION_NAME } from '../../services/management/db/application-database.ts'
import { createDatabase } from '../../services/management/db/database.ts'
import { alert, alertPolicy } from '../../services/management/db/schema/index.ts'
import { createIngest } from '../../services/management/events/ingest/ingest.ts'
import type { ReceivedMessage } from '../../services/management/events/ingest/ingest-port.ts'
import { createBatchQueue } from '../../services/management/fleet/connection/batch-queue.ts'
import {
  createMessageFactory,
  insertChannel,
  insertEngine,
} from '../fixtures/management/engine-messages.ts'

export interface IngestLoad {
  /** Socket of Postgres. */
  path: string
  /** Number of engines, which have 100 channels together. */
  engines: number
  /** Events per second of all channels. */
  rate: number
  rounds: number
  /** Length of a round in seconds. */
  seconds: number
  /** Minimum number of seconds between two notifications of a channel. */
  frequencyS: number
  /** Receiver of an e-mail for each notification. */
  action_to?: string
}

export interface IngestResult {
  /** Events per second that were stored in each round. */
  rates: number[]
  /** Number of messages. */
  stored: number
}

export const CHANNELS = 100
/** Two of three events go up, and an alert counts those. */
const DIRECTIONS = ['up', 'up', 'down'] as const

/**
 * Ingests line crossings of 100 channels, which arrive at a constant rate, through the queue
 * that the fleet has for each engine. Every channel has an alert. node ingest-load.ts
 * <IngestLoad as JSON>
 */
if (import.meta.main) {
  const {
    path,
    engines,
    rate,
    rounds,
    seconds,
    frequencyS,
    action_to: actionTo,
  } = JSON.parse(process.argv[2]!) as IngestLoad
  const database = await createDatabase({
    path,
    user: APPLICATION_NAME,
    database: APPLICATION_NAME,
  })
  const ingest = createIngest({
    database,
    subscribers: [alertSubscriber],
    log: createLog('bench', 'warn'),
  })
  const channelsPerEngine = CHANNELS / engines
  const ratePerEngine = rate / engines
  const created = await Promise.all(
    Array.from({ length: engines }, (_, index) => createEngine(index)),
  )
  const stored: number[] = Array.from({ length: rounds }, () => 0)
  const startedAt = Date.now()
  const end = startedAt + rounds * seconds * 1000

  await Promise.all(
    created.map(async ({ engine_id: engineId, hello, crossing }) => {
      const queue = createBatchQueue<ReceivedMessage>(async batch => {
        await ingest.consume(engineId, batch)
        const round = Math.min(Math.floor((Date.now() - startedAt) / (seconds * 1000)), rounds - 1)
        stored[round]! += batch.length
      })
      let drained = queue.push(hello())
      for (let n = 0; Date.now() < end; n += 1) {
        const channel = (n % channelsPerEngine) + 1
        const direction = DIRECTIONS[Math.floor(n / channelsPerEngine) % DIRECTIONS.length]
        const due = startedAt + Math.floor((n * 1000) / ratePerEngine)
        if (due > Date.now()) await wait(due - Date.now())
        drained = queue.push(crossing(channel, due, direction))
        if (queue.isFull()) await drained
      }
      await drained
    }),
  )
  await database.close()
  const result: IngestResult = {
    rates: stored.map(count => count / seconds),
    stored: stored.reduce((a, b) => a + b, 0),
  }
  process.stdout.write(JSON.stringify(result))

  /** Inserts an engine with its channels, each with an alert. */
  async function createEngine(engineIndex: number) {
    const engine = await insertEngine(database)
    for (let channelSid = 1; channelSid <= channelsPerEngine; channelSid += 1) {
      const channelId = await insertChannel(database, engine, 'line-crossing', {
        channel_sid: channelSid,
      })
      const alertId = v7()
      // The thresholds differ, so that the alerts fire one after another, and not
      // all at the same moment.
      const part = (engineIndex * channelsPerEngine + channelSid) / CHANNELS
      const alertThreshold = String((part * frequencyS * rate * 2) / 3 / CHANNELS)
      await database.system('bench', async tx => {
        await tx.insert(alert).values({
          ...{
            alert_id: alertId,
            channel_id: channelId,
            alert_name: 'Busy',
            alert_priority: 'low',
          },
          ...{
            alert_threshold: alertThreshold,
            alert_threshold_condition: 'gte',
            alert_threshold_key: 'up',
          },
          alert_frequency: frequencyS,
          alert_actions: actionTo ? [{ action_type: 'email', action_to: actionTo }] : [],
        })
        // Each notification is sent.
        await tx.insert(alertPolicy).values({
          alert_id: alertId,
          channel_id: channelId,
          quiet_s: 300,
          repeat_s: 0,
          budget_per_hour: 0,
          escalation: [],
        })
      })
    }
    return { engine_id: engine.engine_id, ...createMessageFactory() }
  }
}
