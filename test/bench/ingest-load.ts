import { setTimeout as wait } from 'node:timers/promises'
import { createLog } from '@eyrie/kit'
import { v7 } from 'uuid'
import { alertSubscriber } from '../../services/management/alerts/evaluate-messages.ts'
import { APPLICATION_NAME } from '../../services/management/db/application-database.ts'
import { createDatabase } from '../../services/management/db/database.ts'
import { alert } from '../../services/management/db/schema/index.ts'
import { createIngest } from '../../services/management/events/ingest/ingest.ts'
import { MAX_QUEUED_MESSAGES } from '../../services/management/fleet/connection/output-follower.ts'
import { createMessageFactory, insertChannel, insertEngine } from '../fixtures/management/engine-messages.ts'

/** What was stored in each round, in order. */
export interface IngestResult {
  rates: number[]
  stored: number
}

const ENGINES = 10
const CHANNELS_PER_ENGINE = 10
const FREQUENCY_S = 30

/**
 * Ingests line crossings of 100 channels, which arrive at a constant rate. Every channel has an alert. As in the fleet, the messages
 * of an engine that have arrived while a batch was stored are the next batch.
 * node ingest-load.ts <socket of Postgres> <events per second> <rounds> <seconds of a round>
 */
if (import.meta.main) {
  const [path = '', ...numbers] = process.argv.slice(2)
  const [rate = 0, rounds = 0, seconds = 0] = numbers.map(Number)
  const database = await createDatabase({ path, user: APPLICATION_NAME, database: APPLICATION_NAME })
  const ingest = createIngest({ database, subscribers: [alertSubscriber], log: createLog('bench', 'warn') })
  const engines = await Promise.all(Array.from({ length: ENGINES }, createEngine))
  const end = performance.now() + rounds * seconds * 1000
  const stored: number[] = Array.from({ length: rounds }, () => 0)
  const startedAt = performance.now()

  await Promise.all(
    engines.map(async ({ engine_id, createBatch }) => {
      for (let arrived = 0; performance.now() < end; ) {
        const due = Math.floor(((performance.now() - startedAt) * rate) / 1000 / ENGINES)
        const count = Math.min(due - arrived, MAX_QUEUED_MESSAGES)
        if (count === 0) {
          await wait(1)
          continue
        }
        await ingest.consume(engine_id, createBatch(count))
        arrived += count
        const round = Math.min(Math.floor((performance.now() - startedAt) / (seconds * 1000)), rounds - 1)
        stored[round]! += count
      }
    }),
  )
  await database.close()
  const result: IngestResult = {
    rates: stored.map(count => count / seconds),
    stored: stored.reduce((a, b) => a + b, 0),
  }
  process.stdout.write(JSON.stringify(result))

  /** Inserts an engine with its channels, each with an alert. */
  async function createEngine() {
    const engine = await insertEngine(database)
    for (let channel_sid = 1; channel_sid <= CHANNELS_PER_ENGINE; channel_sid += 1) {
      const channel_id = await insertChannel(database, engine, 'line-crossing', { channel_sid })
      await database.system('bench', tx =>
        tx.insert(alert).values({
          ...{ alert_id: v7(), channel_id, alert_name: 'Busy', alert_priority: 'low' },
          ...{ alert_threshold: '3', alert_threshold_condition: 'gte', alert_threshold_key: 'up' },
          ...{ alert_frequency: FREQUENCY_S, alert_actions: [] },
        }),
      )
    }
    const { hello, crossing } = createMessageFactory()
    let isFirst = true
    const createBatch = (count: number) => {
      const now = Date.now()
      const crossings = Array.from({ length: count }, (_, n) =>
        crossing((n % CHANNELS_PER_ENGINE) + 1, now, n % 3 === 0 ? 'down' : 'up'),
      )
      const batch = isFirst ? [hello(), ...crossings] : crossings
      isFirst = false
      return batch
    }
    return { engine_id: engine.engine_id, createBatch }
  }
}
