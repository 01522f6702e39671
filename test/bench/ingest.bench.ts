import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'drizzle-orm'
import { findChildPid } from '../fixtures/processes/processes.ts'
import type { Bench } from './bench.ts'
import { childrenCpu, treeCpu } from './cpu.ts'
import { CHANNELS, type IngestLoad, type IngestResult } from './ingest-load.ts'
import { startPopulatedManagement } from './populated-management.ts'

const rounds = 6
const seconds = 10
const minRate = 10_000
/** More arrive than have to be stored, so that a moment without progress is made up for. */
const offeredRate = 12_000
const engines = 10
const frequencyS = 30
const TIMEOUT_MS = 300_000

/**
 * The ingest of management in a process of its own, with the embedded Postgres, for a minute. Both
 * share the cores of the machine. The connections to engines are not part of it.
 */
export const bench: Bench = {
  name: `events per second of ${CHANNELS} channels with alerts into the embedded Postgres, for a minute`,
  limit: { min: minRate },
  unit: '/s',

  async run() {
    const management = await startPopulatedManagement({ organizations: 1, sites: 1, devices: 1 })
    try {
      const postgres = findChildPid(management.service.pid, 'native/bin/postgres')
      // The connections of the ingest have ended with it.
      const postgresCpu = () => treeCpu(postgres) + childrenCpu(postgres)
      const before = { ingest: childrenCpu(), postgres: postgresCpu() }
      const program = join(import.meta.dirname, 'ingest-load.ts')
      const load: IngestLoad = {
        path: management.socket,
        engines,
        rate: offeredRate,
        rounds,
        seconds,
        frequencyS,
      }
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [program, JSON.stringify(load)],
        {
          timeout: TIMEOUT_MS,
        },
      )
      const { rates, stored }: IngestResult = JSON.parse(stdout)
      const [counts] = await management.database.system('bench', tx =>
        tx.execute<{ events: number; fired: number }>(sql`
          select (select count(*)::int from event) as events, (select count(*)::int from notification) as fired`),
      )
      const perEvent = (cpuSeconds: number) => `${((cpuSeconds * 1e6) / stored).toFixed(0)} µs`
      return {
        samples: rates,
        loads: [
          // Each engine has introduced itself with a message of its own.
          { name: 'stored events', min: stored - engines, actual: counts!.events },
          { name: 'fired alerts', min: CHANNELS / 10, actual: counts!.fired },
        ],
        detail:
          `rounds ${rates.map(rate => rate.toFixed(0)).join(' ')}; ${counts!.fired} notifications; ` +
          `CPU for each event: ${perEvent(childrenCpu() - before.ingest)} of the ingest, ${perEvent(postgresCpu() - before.postgres)} of Postgres`,
      }
    } finally {
      await management.stop()
    }
  },
}
