import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { EyrieError } from '@eyrie/contract'
import { operatorPasswordReset } from '@eyrie/contract/management/user'
import { parseAs } from '@eyrie/contract/parse'
import { isKnownToken, parseBearerToken } from '@eyrie/kit'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { readOrCreateSecret } from '../../secrets/secret-file.ts'
import { deleteFirstPassword } from '../../users/first-administrator.ts'

const MAX_BODY_BYTES = 4 << 10

export interface OperatorOptions {
  /** Folder of the appliance's data. */
  data: string
  /** Resolves to the new password. */
  resetPassword(email: string): Promise<string>
}

/** Returns the operator's token. It is created at the first start. */
export const readOperatorToken = (data: string) =>
  readOrCreateSecret(resolve(data, 'secrets/operator-token'), () => randomBytes(32).toString('base64url'))

/**
 * Routes of the command line on the appliance. The operator authenticates with a token in a file that only the
 * appliance's system user can read.
 */
export function createOperatorRoutes({ data, resetPassword }: OperatorOptions): Hono {
  const app = new Hono()
  app.use(async (c, next) => {
    if (!isKnownToken(parseBearerToken(c.req.header('Authorization')), [readOperatorToken(data)]))
      throw new EyrieError('auth', 'send the token in secrets/operator-token of the data folder')
    await next()
  })
  app.post('/user/reset', bodyLimit({ maxSize: MAX_BODY_BYTES }), async c => {
    const { email } = parseAs(operatorPasswordReset.body, await c.req.json().catch(() => undefined))
    const password = await resetPassword(email)
    deleteFirstPassword(data, email)
    return c.json({ password })
  })
  return app
}
