import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import type { Database } from '../../services/management/db/database.ts'
import { findChildPid } from '../fixtures/processes/processes.ts'
import { type Bench, median } from './bench.ts'
import { machineCpu, processCpu, processTree, treeCpu } from './cpu.ts'
import type { LoadRequest, LoadResult } from './management-load.ts'
import { startPopulatedManagement } from './populated-management.ts'

const organizations = 100
const sites = 10
const devices = 10
const rate = 500
const roundSeconds = 10
/**
 * The median of several rounds decides: a neighbour on a shared machine may stop
 * both cores for 100 ms.
 */
const rounds = 5
const warmUp = { rate: 200, seconds: 15 }
const higherRates = [600, 750, 900, 1100, 1300, 1600]
const maxP99Ms = 150

/**
 * Management runs on one core; Postgres and the load generator share another. Latency counts from
 * the moment when a request was due, so that a service that falls behind gets no fewer requests.
 */
export const bench: Bench = {
  name: `99th percentile of ${rate} lookups and lists per second with ${organizations * sites * devices} devices`,
  limit: { max: maxP99Ms },
  unit: ' ms',

  async run() {
    const management = await startPopulatedManagement({ organizations, sites, devices })
    try {
      const { pid } = management.service
      const requests = await mixRequests(management.database, management.api, management.token)
      const postgres = findChildPid(pid, 'native/bin/postgres')
      pinToCore(pid, 0)
      for (const each of processTree(postgres)) pinToCore(each, 1)

      await generateLoad(requests, warmUp.rate, warmUp.seconds)
      const before = { management: processCpu(pid), postgres: treeCpu(postgres) }
      const results: LoadResult[] = []
      const stolen: number[] = []
      for (let round = 0; round < rounds; round += 1) {
        const start = machineCpu()
        results.push(await generateLoad(requests, rate, roundSeconds))
        stolen.push(stolenPercent(start, machineCpu()))
      }
      const sent = sum(results.map(result => result.requests))
      const succeeded = sent - sum(results.map(result => result.failed))
      const msPerRequest = (seconds: number) => ((seconds * 1000) / sent).toFixed(2)
      const cpu = {
        management: msPerRequest(processCpu(pid) - before.management),
        postgres: msPerRequest(treeCpu(postgres) - before.postgres),
      }
      const highest = await findHighestRate(requests)
      return {
        samples: results.map(({ p99 }) => p99),
        loads: [{ name: 'requests that succeeded', min: sent, actual: succeeded }],
        detail:
          `rounds ${results.map(({ p99 }) => p99.toFixed(0)).join(' ')} ms with ${stolen.map(share => share.toFixed(0)).join(' ')} % of the CPU stolen; ` +
          `median latency ${median(results.map(({ p50 }) => p50)).toFixed(1)} ms; ` +
          `${cpu.management} ms CPU of management and ${cpu.postgres} ms of Postgres per request; ` +
          `highest rate within the limit ${highest}/s`,
      }
    } finally {
      await management.stop()
    }
  },
}

/** The highest of the higher rates that stays within the limit, in steps from the lowest up. */
async function findHighestRate(requests: LoadRequest[]): Promise<number> {
  let highest = rate
  for (const higher of higherRates) {
    const { p99, failed } = await generateLoad(requests, higher, roundSeconds)
    if (p99 > maxP99Ms || failed > 0) break
    highest = higher
  }
  return highest
}

const pinToCore = (pid: number, core: number) =>
  execFileSync('taskset', ['-acp', String(core), String(pid)])

const stolenPercent = (before: ReturnType<typeof machineCpu>, after: typeof before) =>
  (100 * (after.stolen - before.stolen)) / (after.total - before.total)

const sum = (values: number[]) => values.reduce((a, b) => a + b, 0)

/** Mostly single devices and the devices of a site, as a console requests them. */
async function mixRequests(database: Database, api: string, token: string): Promise<LoadRequest[]> {
  const rows = await database.system('bench', tx =>
    tx.execute<{
      device_id: string
      site_id: string
      customer_id: string
      organization_id: string
    }>(sql`
      select device_id, site_id, customer_id, organization_id from device join site using (site_id)
      order by md5(device_id::text) limit 2000`),
  )
  return rows.map(
    (
      {
        device_id: deviceId,
        site_id: siteId,
        customer_id: customerId,
        organization_id: organizationId,
      },
      n,
    ) => {
      const paths = [
        ...Array.from({ length: 4 }, () => `/device/id?device_id=${deviceId}`),
        ...Array.from({ length: 2 }, () => `/device/list?site_id=${siteId}`),
        `/site/id?site_id=${siteId}`,
        `/site/list?customer_id=${customerId}`,
        `/customer/list?organization_id=${organizationId}`,
        `/organization/id?organization_id=${organizationId}`,
      ]
      return { url: api + paths[n % paths.length], token }
    },
  )
}

async function generateLoad(
  requests: LoadRequest[],
  rate: number,
  seconds: number,
): Promise<LoadResult> {
  const generator = join(import.meta.dirname, 'management-load.ts')
  const args = ['-c', '1', process.execPath, generator, String(rate), String(seconds)]
  return new Promise((resolve, reject) => {
    const child = execFile('taskset', args, (error, stdout) =>
      error ? reject(error) : resolve(JSON.parse(stdout)),
    )
    child.stdin?.end(JSON.stringify(requests))
  })
}
