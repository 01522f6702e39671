import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { SCHEDULER_MEMORY } from '../../appliance/supervisor/supervisor.ts'
import { startService } from '../fixtures/processes/service-process.ts'
import { SCHEDULER_TOKEN } from '../fixtures/scheduler/scheduler-api.ts'
import type { Bench } from './bench.ts'
import { anonymousMemory } from './cpu.ts'

const maxMegabytes = 80
const samples = 10
const SAMPLE_INTERVAL_MS = 2_000
const BYTES_PER_MIB = 1 << 20

/**
 * The scheduler with nothing to send, connected to a management service with the embedded Postgres.
 */
export const bench: Bench = {
  name: 'memory of the idle scheduler, without pages of files that the services share',
  limit: { max: maxMegabytes },
  unit: ' MiB',

  async run() {
    const data = mkdtempSync(join(tmpdir(), 'eyrie-bench-'))
    const management = await startService('management', {
      EYRIE_DATA: data,
      EYRIE_MANAGEMENT_PORT: '0',
      EYRIE_SCHEDULER_TOKEN: SCHEDULER_TOKEN,
    })
    try {
      const scheduler = await startService('scheduler', {
        EYRIE_DATA: join(data, 'scheduler'),
        EYRIE_MANAGEMENT_URL: management.url,
        EYRIE_SCHEDULER_PORT: '0',
        EYRIE_SCHEDULER_TOKEN: SCHEDULER_TOKEN,
        ...SCHEDULER_MEMORY,
      })
      try {
        const values: number[] = []
        let connected = 0
        while (values.length < samples) {
          await wait(SAMPLE_INTERVAL_MS)
          const health = (await (await fetch(`${scheduler.url}/health`)).json()) as {
            management?: boolean
          }
          if (health.management) connected += 1
          if (health.management) values.push(anonymousMemory(scheduler.pid) / BYTES_PER_MIB)
        }
        const metrics = await (await fetch(`${management.url}/metrics`)).text()
        const isUp = metrics.includes('eyrie_management_database_up 1')
        return {
          samples: values,
          loads: [
            { name: 'samples while connected', min: samples, actual: connected },
            { name: 'database of management', min: 1, actual: Number(isUp) },
          ],
          detail: values.map(value => value.toFixed(1)).join(' '),
        }
      } finally {
        await scheduler.stop()
      }
    } finally {
      await management.stop()
      rmSync(data, { recursive: true, force: true })
    }
  },
}
