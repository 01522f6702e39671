import { z } from 'zod'

/** `POST /operator/user/reset`: a new password for an administrator, asked for from the box's own shell. */
export const operatorReset = {
  path: '/operator/user/reset',
  body: z.strictObject({ email: z.string().max(254) }),
  answer: z.object({ password: z.string() }),
}
