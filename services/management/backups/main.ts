import {
  createEgress,
  createLog,
  type Environment,
  extractSecrets,
  readEnvironment,
} from '@eyrie/kit'
import { v7 } from 'uuid'
import { createDatabase } from '../db/database.ts'
import { describeDatabaseError } from '../db/database-errors.ts'
import { createJobRunner } from '../jobs/job-runner.ts'
import { loadSecrets } from '../secrets/secrets.ts'
import { openDatabaseAccess } from '../upkeep/database-access.ts'
import { createArchiveWriter } from './archive-writer.ts'
import { runScheduledBackup } from './scheduled-backup.ts'

// The program behind `eyrie backup store`. Does a run of the job `backup` where management cannot,
// because the files of the other services are closed to it. Prints the state of the job as JSON to
// stdout, or the reason of a failure as one line to stderr.

const LIMIT_MS = 4 * 3_600_000

async function storeBackup(environment: Environment): Promise<unknown> {
  const { data, databaseUrl } = environment
  const log = createLog('management', 'silent')
  const secrets = loadSecrets(data)
  const egress = createEgress('backup', environment)
  const write = createArchiveWriter({ data, databaseUrl, isSupervised: false })
  const access = await openDatabaseAccess({ environment, log })
  try {
    const database = await createDatabase(access.target)
    try {
      const options = { data, secrets, egress, write, now: () => new Date() }
      const runner = createJobRunner(
        { backup: context => runScheduledBackup(context, options) },
        log,
      )
      const run = { run_id: v7(), limitMs: LIMIT_MS, waitMs: LIMIT_MS }
      const job = await runner.run(database, 'backup', run)
      if (job.run_id !== run.run_id) {
        throw new Error('another backup is in progress: wait until it has finished')
      }
      if (job.job_state !== 'succeeded') throw new Error(job.job_message)
      return job
    } finally {
      await database.close()
    }
  } finally {
    await access.close()
  }
}

const environment = readEnvironment({ ...process.env, ...extractSecrets(process.env) })
try {
  process.stdout.write(`${JSON.stringify(await storeBackup(environment))}\n`)
} catch (error) {
  process.stderr.write(`${describeDatabaseError(error as Error, environment.databaseUrl)}\n`)
  process.exitCode = 1
}
