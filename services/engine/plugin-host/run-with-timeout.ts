import { createContext, Script } from 'node:vm'

const script = new Script('work()')

/**
 * Runs synchronous code that may never return, such as a third-party regular expression, on the current thread. Throws an
 * Error with `message` after `ms`.
 */
export function runWithTimeout<T>(ms: number, message: string, work: () => T): T {
  try {
    return script.runInContext(createContext({ work }), { timeout: ms })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new Error(message)
    throw error
  }
}
