import {
  armedStates,
  type ScheduleRules,
  scheduleChanges,
  scheduleRules,
} from '@eyrie/contract/management/schedule-rules'
import { parseAs } from '@eyrie/contract/parse'
import { limitBodySize, parseJsonBody } from '@eyrie/kit/request-body'
import { Hono } from 'hono'
import type { Database } from '../../db/database.ts'
import { storeArmedStates } from '../../schedules/armed-alerts.ts'
import { loadScheduleRules } from '../../schedules/load-schedule-rules.ts'
import type { ScheduleChanges } from '../../schedules/schedule-changes.ts'

const MAX_BODY_BYTES = 4 << 20
/** How long a request waits for a change. */
const CHANGE_TIMEOUT_MS = 20_000

export interface ScheduleRoutesOptions {
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  /** Throws `EyrieError` (`unavailable`) until the management service has started. */
  changes(): Pick<ScheduleChanges, 'waitForChange'>
}

/**
 * Routes by which the scheduler applies schedules. They check no token: that is done where they are
 * mounted.
 */
export function createScheduleRoutes({ database, changes }: ScheduleRoutesOptions): Hono {
  const app = new Hono()

  app.get(scheduleRules.path, async c => {
    const rules = await database().system('schedules', tx => loadScheduleRules(tx))
    return c.json(rules satisfies ScheduleRules)
  })

  app.post(armedStates.path, limitBodySize(MAX_BODY_BYTES), async c => {
    const { states } = await parseJsonBody(c, armedStates.body)
    await database().system('schedules', tx => storeArmedStates(tx, states))
    return c.json({})
  })

  // Responds when the scheduler does not know the current rules, or after a timeout.
  app.get(scheduleChanges.path, async c => {
    const known = parseAs(scheduleChanges.query, c.req.query())
    const version = await changes().waitForChange(
      known.version,
      CHANGE_TIMEOUT_MS,
      c.req.raw.signal,
    )
    return c.json({ version })
  })

  return app
}
