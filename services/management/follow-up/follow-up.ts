import type { Database } from '../db/database.ts'
import { deleteOverSnoozes, endIncidents } from './end-incidents.ts'
import { escalateIncidents } from './escalate-incidents.ts'
import { sendDigests } from './send-digests.ts'

/**
 * Does what follows from incidents when time passes, as of `now` (epoch ms): ends them, escalates
 * them, and sends digests. Each part is one transaction, so that a run that is killed or that runs
 * twice repeats nothing.
 */
export async function followUp(database: Database, now: number): Promise<void> {
  for (const work of [endIncidents, deleteOverSnoozes, escalateIncidents, sendDigests]) {
    await database.system('incidents', tx => work(tx, now))
  }
}
