import { EyrieError } from '@eyrie/contract'
import { isKnownToken, parseBearerToken } from '@eyrie/kit'
import { Hono, type MiddlewareHandler } from 'hono'
import type { Database } from '../../db/database.ts'
import type { LiveFeed } from '../../feed/live-feed.ts'
import type { JobRunner } from '../../jobs/job-runner.ts'
import type { ScheduleChanges } from '../../schedules/schedule-changes.ts'
import { createDeliveryRoutes, type DeliveryServices } from './delivery-routes.ts'
import { createJobRoutes } from './job-routes.ts'
import { createScheduleRoutes } from './schedule-routes.ts'
import { createSchedulerFeedRoutes } from './scheduler-feed-routes.ts'

/** The components that these routes use. */
export interface SchedulerServices extends DeliveryServices {
  scheduleChanges: Pick<ScheduleChanges, 'waitForChange'>
  liveFeed: LiveFeed
  runner: JobRunner
}

/**
 * The routes are created before the database and the components exist. They therefore get functions
 * that return them, and call these functions at each request.
 */
export interface SchedulerRoutesOptions {
  /** The token of the scheduler. If undefined, all requests are rejected. */
  token: string | undefined
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  /** Throws `EyrieError` (`unavailable`) until the management service has started. */
  services(): SchedulerServices
}

/**
 * Routes that the scheduler calls to deliver notifications, to apply schedules, to follow the live
 * feed and to start jobs. They require the token of the scheduler, which permits nothing else.
 */
export function createSchedulerRoutes({ token, database, services }: SchedulerRoutesOptions): Hono {
  const app = new Hono()
  app.use('/scheduler/*', requireToken(token))
  const groups = [
    createDeliveryRoutes({ database, services }),
    createScheduleRoutes({ database, changes: () => services().scheduleChanges }),
    createSchedulerFeedRoutes({ database, services }),
    createJobRoutes({ database, runner: () => services().runner }),
  ]
  for (const routes of groups) app.route('/', routes)
  return app
}

/** Rejects requests without this token. Rejects all requests if it is undefined. */
function requireToken(token: string | undefined): MiddlewareHandler {
  const accepted = token ? [token] : []
  return async (c, next) => {
    const sent = parseBearerToken(c.req.header('Authorization'))
    if (!isKnownToken(sent, accepted)) {
      throw new EyrieError(
        'auth',
        'the token of the scheduler is missing or wrong: set EYRIE_SCHEDULER_TOKEN to the same value for the scheduler and for management',
      )
    }
    await next()
  }
}
