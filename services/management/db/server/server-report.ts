import { z } from 'zod'

const serverState = z.strictObject({
  /** Whether the server has started, with the database and the role of the application. */
  isReady: z.boolean(),
  /** Why the server cannot start, with the remedy. */
  problem: z.string().optional(),
  isDiskFull: z.boolean(),
})
/** The state of a database server that runs in a process of its own. */
export type ServerState = z.infer<typeof serverState>

/**
 * A message from the process of the database server to its supervisor, which passes it on to
 * the management service.
 */
export const serverReport = z.strictObject({ database_server: serverState })

/** Reports the state to the supervisor. */
export function sendServerReport(state: ServerState): void {
  process.send?.({ database_server: state } satisfies z.input<typeof serverReport>)
}
