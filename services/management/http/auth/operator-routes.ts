import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { EyrieError } from '@eyrie/contract'
import { operatorPasswordReset } from '@eyrie/contract/management/user'
import { parseAs } from '@eyrie/contract/parse'
import { isKnownToken, parseBearerToken } from '@eyrie/kit'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { secretFile } from '../../secrets/secret-file.ts'
import { forgetFirstPassword } from '../../users/first-administrator.ts'

const MOST_BYTES = 4 << 10

export interface OperatorOptions {
  /** Folder of the appliance's data. */
  data: string
  resetPassword(email: string): Promise<string>
}

/** Made at the first start. */
export const operatorToken = (data: string) =>
  secretFile(resolve(data, 'secrets/operator-token'), () => randomBytes(32).toString('base64url'))

/**
 * What the command line does for who has the box in their hands: a token in a file that only the appliance's own user
 * reads shows that they do.
 */
export function operatorRoutes({ data, resetPassword }: OperatorOptions): Hono {
  const app = new Hono()
  app.use(async (c, next) => {
    if (!isKnownToken(parseBearerToken(c.req.header('Authorization')), [operatorToken(data)]))
      throw new EyrieError('auth', 'send the token in secrets/operator-token of the data folder')
    await next()
  })
  app.post('/user/reset', bodyLimit({ maxSize: MOST_BYTES }), async c => {
    const { email } = parseAs(operatorPasswordReset.body, await c.req.json().catch(() => undefined))
    const password = await resetPassword(email)
    forgetFirstPassword(data, email)
    return c.json({ password })
  })
  return app
}
