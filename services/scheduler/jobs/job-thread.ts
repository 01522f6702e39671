/**
 * The body of the thread that bree starts for a run, which ends with the run. The main thread sends
 * the request to management, because a thread with its own HTTP client and type stripping would
 * need 25 MiB that the process does not return. bree passes the source of the function to the
 * thread, so it must not refer to anything outside.
 */
export function holdRun(): void {
  const { parentPort } = process.getBuiltinModule('node:worker_threads')
  parentPort?.once('message', () => parentPort.close())
  parentPort?.postMessage('started')
}

/** Memory of the thread. */
export const THREAD_LIMITS = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 }
