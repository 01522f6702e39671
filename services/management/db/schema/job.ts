import { sql } from 'drizzle-orm'
import { check, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant, optionalText } from './columns.ts'

/**
 * A job that maintains the appliance, with its last or current run. A job that was
 * never planned has no row.
 */
export const job = pgTable(
  'job',
  {
    name: text().primaryKey(),
    /** When the scheduler starts the job next. */
    next_run_at: instant(),
    /** The run that was requested and has not started yet. */
    requested_run_id: uuid(),
    run_id: uuid(),
    started_at: instant(),
    /** Null while a run is in progress, and after one that was interrupted. */
    finished_at: instant(),
    /**
     * Until when the process that runs the job has the exclusive right to do so. It renews the
     * lease while it works.
     */
    lease_until: instant(),
    state: text(),
    message: optionalText(),
    /** End of the last run that succeeded. */
    succeeded_at: instant(),
  },
  table => [
    check('job_state_values', sql`${table.state} in ('running', 'succeeded', 'failed', 'skipped')`),
  ],
)
