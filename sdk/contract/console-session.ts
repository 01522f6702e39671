import { z } from 'zod'

/**
 * Answer of `GET /session`: who has signed in to the console in this browser. 503 where that cannot be told yet and nothing
 * is open to everybody.
 */
export const consoleSession = z.object({
  /** Live views are to be seen without signing in, too: on the box itself. */
  open: z.boolean(),
  user: z.object({ email: z.string(), role: z.string().nullable() }).nullable(),
  /** A session was sent, and whose it is cannot be told before the database is there: ask again. */
  starting: z.literal(true).optional(),
})
export type ConsoleSession = z.infer<typeof consoleSession>

/** Body of `POST /session`. */
export const credentials = z.strictObject({ email: z.string().max(4096), password: z.string().max(1024) })
