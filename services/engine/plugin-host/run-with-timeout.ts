import { createContext, Script } from 'node:vm'

/** A script that calls the global function `work` of its context. */
const callWork = new Script('work()')

/**
 * Runs synchronous code that may never return, such as a third-party regular expression. Throws an
 * `Error` with `message` after `ms`. V8 can interrupt only code that was started through `node:vm`.
 */
export function runWithTimeout<T>(ms: number, message: string, work: () => T): T {
  try {
    return callWork.runInContext(createContext({ work }), { timeout: ms })
  } catch (error) {
    const isTimeout = (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
    throw isTimeout ? new Error(message) : error
  }
}
