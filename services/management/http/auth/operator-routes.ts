import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { EyrieError } from '@eyrie/contract'
import {
  type ConsoleLink,
  operatorJobRun,
  operatorPasswordReset,
} from '@eyrie/contract/management/operator'
import { isKnownToken, parseBearerToken } from '@eyrie/kit'
import { limitBodySize, parseJsonBody } from '@eyrie/kit/request-body'
import { readOrCreateSecret } from '@eyrie/kit/secret-file'
import { Hono } from 'hono'
import type { Database } from '../../db/database.ts'
import { listJobs, requestRun } from '../../jobs/job-store.ts'
import { deleteFirstPassword } from '../../users/first-administrator.ts'
import type { LocalSessions } from '../../users/local-sessions.ts'
import { createOperatorPlacementRoutes } from './operator-placement-routes.ts'

const MAX_BODY_BYTES = 4 * 1024
const TOKEN_BYTES = 32

export interface OperatorOptions {
  /** Folder of the appliance's data. */
  data: string
  /** Throws `EyrieError` (`unavailable`) while the database is unreachable. */
  database(): Database
  /** Resolves to the new password. */
  resetPassword(email: string): Promise<string>
  localSessions: Pick<LocalSessions, 'createKey'>
}

/**
 * Returns the token with which the command line on the appliance authenticates. It is stored in the
 * data folder, and created at the first start.
 */
export function readOrCreateOperatorToken(data: string): string {
  const file = resolve(data, 'secrets/operator-token')
  return readOrCreateSecret(file, () => randomBytes(TOKEN_BYTES).toString('base64url'))
}

/**
 * Routes for `./eyrie`, the command line on the appliance. It authenticates with a token from a
 * file that only the system user of the appliance can read.
 */
export function createOperatorRoutes({
  data,
  database,
  resetPassword,
  localSessions,
}: OperatorOptions): Hono {
  const app = new Hono()
  app.use(async (c, next) => {
    const token = parseBearerToken(c.req.header('Authorization'))
    if (!isKnownToken(token, [readOrCreateOperatorToken(data)])) {
      throw new EyrieError('auth', 'send the token in secrets/operator-token of the data folder')
    }
    await next()
  })

  const limitBody = limitBodySize(MAX_BODY_BYTES)

  app.post('/user/reset', limitBody, async c => {
    const { email } = await parseJsonBody(c, operatorPasswordReset.body)
    const password = await resetPassword(email)
    // The file with the administrator's first password is outdated now.
    deleteFirstPassword(data, email)
    return c.json({ password })
  })

  app.post('/jobs', async c =>
    c.json({ jobs: await database().system('jobs', tx => listJobs(tx)) }),
  )

  app.post('/jobs/run', limitBody, async c => {
    const { job_name: jobName } = await parseJsonBody(c, operatorJobRun.body)
    return c.json({ run_id: await database().system('jobs', tx => requestRun(tx, jobName)) })
  })

  app.route('/', createOperatorPlacementRoutes(database))

  // A link with this key opens the console in a browser on this appliance without sign-in.
  app.post('/link', c => c.json({ key: localSessions.createKey() } satisfies ConsoleLink))

  return app
}
