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
import type { JobContext } from '../jobs/job.ts'
import { createJobRunner } from '../jobs/job-runner.ts'
import { loadSecrets } from '../secrets/secrets.ts'
import { openDatabaseAccess } from '../upkeep/database-access.ts'
import { createArchiveWriter } from './archive-writer.ts'
import { runScheduledBackup } from './scheduled-backup.ts'

// The program behind `eyrie backup store`. Does a run of the job `backup` where management cannot,
// because it may not read the files of the other services. Prints the state of the job as JSON to
// stdout, or the reason of a failure as one line to stderr.

/** Time limit of the run. */
const LIMIT_MS = 4 * 3_600_000

/** Runs the job and returns its state. Throws an `Error` if the run fails. */
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
      const works = { backup: (context: JobContext) => runScheduledBackup(context, options) }
      const runner = createJobRunner(works, log)
      const run = { run_id: v7(), limitMs: LIMIT_MS, waitMs: LIMIT_MS }
      const job = await runner.run(database, 'backup', run)
      // The runner returns the state of the run that is in progress, if there is one.
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
