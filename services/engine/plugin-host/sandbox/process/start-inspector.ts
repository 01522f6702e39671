import { Worker } from 'node:worker_threads'

/**
 * Loaded before an element that a debugger may pause: starts the thread through which the debugger
 * reaches the main thread.
 */

// Without the options of this process, one of which loads this module.
new Worker(new URL('./inspector-thread.ts', import.meta.url), { execArgv: [] })
