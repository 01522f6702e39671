import { createContext, Script } from 'node:vm'

const script = new Script('work()')

/**
 * Runs something that may never come to an end, such as a regular expression that somebody else has written, on this
 * thread. Throws an Error with `message` once it has taken `ms`.
 */
export function inTime<T>(ms: number, message: string, work: () => T): T {
  try {
    return script.runInContext(createContext({ work }), { timeout: ms })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new Error(message)
    throw error
  }
}
