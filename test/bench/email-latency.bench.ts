import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { sql } from 'drizzle-orm'
import { startService } from '../fixtures/processes/service-process.ts'
import { SCHEDULER_TOKEN } from '../fixtures/scheduler/scheduler-api.ts'
import type { Bench } from './bench.ts'
import { CHANNELS, type IngestLoad } from './ingest-load.ts'
import { type PopulatedManagement, startPopulatedManagement } from './populated-management.ts'

const eventsPerChannel = 10
const emailsPerSecond = 10
const seconds = 60
const maxP99Ms = 5_000
const maxMedianMs = 1_000
const TIMEOUT_MS = 300_000

/**
 * From the time of an event to the moment at which a mail server has accepted the e-mail about it:
 * the ingest, management with the embedded Postgres, the scheduler and the mail server are
 * processes of their own. The connections to engines are not part of it.
 */
export const bench: Bench = {
  name: `99th percentile from event to accepted e-mail, ${CHANNELS} channels with ${eventsPerChannel} events a second each`,
  limit: { max: maxP99Ms },
  unit: ' ms',

  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'eyrie-bench-'))
    const stops: (() => Promise<unknown>)[] = [
      async () => rmSync(folder, { recursive: true, force: true }),
    ]
    try {
      const management = await startPopulatedManagement({ organizations: 1, sites: 1, devices: 1 })
      stops.push(management.stop)
      const sink = await startMailSink()
      stops.push(async () => sink.child.kill())
      await setMailServer(management, sink.port)
      const scheduler = await startService('scheduler', {
        EYRIE_DATA: join(folder, 'scheduler'),
        EYRIE_MANAGEMENT_URL: management.service.url,
        EYRIE_SCHEDULER_PORT: '0',
        EYRIE_SCHEDULER_TOKEN: SCHEDULER_TOKEN,
      })
      stops.push(scheduler.stop)

      const load: IngestLoad = {
        path: management.socket,
        engines: 1,
        rate: CHANNELS * eventsPerChannel,
        ...{
          rounds: 1,
          seconds,
          frequencyS: CHANNELS / emailsPerSecond,
          action_to: 'guard@example.com',
        },
      }
      const program = join(import.meta.dirname, 'ingest-load.ts')
      await promisify(execFile)(process.execPath, [program, JSON.stringify(load)], {
        timeout: TIMEOUT_MS,
      })
      const { total, storedMs } = await drain(management)
      const latencies = await sink.read()
      const sorted = latencies.toSorted((a, b) => a - b)
      const percentile = (share: number) =>
        sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
      const inTime = sorted.filter(latency => latency <= maxMedianMs).length
      return {
        samples: [percentile(0.99)],
        loads: [
          { name: 'e-mails', min: emailsPerSecond * seconds * 0.9, actual: latencies.length },
          { name: 'accepted e-mails', min: total, actual: latencies.length },
          {
            name: `e-mails within ${maxMedianMs} ms, in %`,
            min: 50,
            actual: (100 * inTime) / sorted.length,
          },
        ],
        detail: `${latencies.length} e-mails: median ${percentile(0.5)} ms, 95th percentile ${percentile(0.95)} ms, slowest ${sorted.at(-1)} ms; ${storedMs} ms until the event is being stored`,
      }
    } finally {
      for (const stop of stops.reverse()) await stop()
    }
  },
}

interface MailSink {
  child: ChildProcess
  /** Port of SMTP. */
  port: number
  /** Times in ms from each event to the acceptance of its e-mail. */
  read(): Promise<number[]>
}

async function startMailSink(): Promise<MailSink> {
  const program = join(import.meta.dirname, 'smtp-sink.ts')
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout!, 'data')
  const [port = 0, httpPort] = String(line).trim().split(' ').map(Number)
  const read = async () => (await (await fetch(`http://127.0.0.1:${httpPort}/`)).json()) as number[]
  return { child, port, read }
}

async function setMailServer({ api, token }: PopulatedManagement, smtpPort: number): Promise<void> {
  const answer = await fetch(`${api}/config/smtp/update`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      smtp_host: '127.0.0.1',
      smtp_port: smtpPort,
      smtp_from: 'eyrie@example.com',
    }),
  })
  if (!answer.ok) throw new Error(await answer.text())
}

/**
 * Waits until no delivery is due any more. Returns their number, and the median time from an event
 * to the beginning of its transaction.
 */
async function drain({ database }: PopulatedManagement) {
  for (;;) {
    const [row] = await database.system('bench', tx =>
      tx.execute<{ waiting: number; total: number; storedMs: number }>(sql`
        select count(*) filter (where next_attempt_at is not null)::int as waiting, count(*)::int as total,
          coalesce(percentile_cont(0.5) within group (order by extract(epoch from created_at - notification_time) * 1000), 0)
            ::int as "storedMs"
        from delivery join notification using (notification_uuid)`),
    )
    if (row!.waiting === 0) return row!
    await wait(200)
  }
}
