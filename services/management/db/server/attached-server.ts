import { once } from 'node:events'
import { openSocketAddress } from './embedded-server.ts'
import { type ServerState, serverReport } from './server-report.ts'

/** The database server of the appliance, which the supervisor runs as a user of its own. */
export interface AttachedServer {
  /** Whether the server cannot run because its disk is full. */
  readonly isDiskFull: boolean
  /**
   * Returns how to connect to a database of the server as one of its roles. Waits until the server
   * has started. Throws an `Error` if it cannot, or if `signal` aborts the wait.
   */
  target(
    user: string,
    database: string,
    signal: AbortSignal,
  ): Promise<{ path: string; user: string; database: string }>
  close(): Promise<void>
}

/**
 * Attaches this process to the server whose socket is in a folder. The supervisor reports the state
 * of the server by messages.
 */
export function attachServer(socketFolder: string): AttachedServer {
  /** The last report. */
  let state: ServerState = { isReady: false, isDiskFull: false }
  let socket: Awaited<ReturnType<typeof openSocketAddress>> | undefined

  const receive = (message: unknown) => {
    const report = serverReport.safeParse(message)
    if (report.success) state = report.data.database_server
  }
  process.on('message', receive)

  return {
    get isDiskFull() {
      return state.isDiskFull
    },
    async target(user, database, signal) {
      while (!state.isReady) {
        if (state.problem !== undefined) throw new Error(state.problem)
        await once(process, 'message', { signal })
      }
      socket ??= await openSocketAddress(socketFolder)
      return { path: socket.path, user, database }
    },
    async close() {
      process.off('message', receive)
      await socket?.close()
    },
  }
}
