import {
  armedStates,
  type ScheduleRules,
  scheduleChanges,
  scheduleRules,
} from '@eyrie/contract/management/schedule-rules'
import { parseAs } from '@eyrie/contract/parse'
import { limitBodySize, parseJsonBody } from '@eyrie/kit/request-body'
import type { Hono } from 'hono'
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
 * Adds the routes by which the scheduler applies schedules. The caller must check its token before.
 */
export function addScheduleRoutes(app: Hono, { database, changes }: ScheduleRoutesOptions): void {
  app.get(scheduleRules.path, async c => {
    const rules = await database().system('schedules', tx => loadScheduleRules(tx))
    return c.json(rules satisfies ScheduleRules)
  })

  app.post(armedStates.path, limitBodySize(MAX_BODY_BYTES), async c => {
    const { states } = await parseJsonBody(c, armedStates.body)
    await database().system('schedules', tx => storeArmedStates(tx, states))
    return c.json({})
  })

  app.get(scheduleChanges.path, async c => {
    const { version } = parseAs(scheduleChanges.query, c.req.query())
    return c.json({
      version: await changes().waitForChange(version, CHANGE_TIMEOUT_MS, c.req.raw.signal),
    })
  })
}
