import { sleepUntil } from '@eyrie/kit'
import type { Database } from './database.ts'

/**
 * Notices changes that transactions announce, so that another process need not ask
 * for them all the time.
 */
export interface ChangeSignal {
  start(database: Database): void
  /**
   * Resolves with the current version as soon as it differs from `version`, or after `timeoutMs`.
   */
  waitForChange(version: number, timeoutMs: number, signal: AbortSignal): Promise<number>
  stop(): Promise<void>
}

/** Creates a signal for the changes that are announced on a channel of Postgres. */
export function createChangeSignal(channel: string): ChangeSignal {
  // Differs from the versions before a restart, so that a process that waits across it asks again.
  let version = Date.now()
  let changed = Promise.withResolvers<void>()
  let stopListening: (() => Promise<void>) | undefined

  function handleChange() {
    version += 1
    changed.resolve()
    changed = Promise.withResolvers()
  }

  return {
    start(database) {
      // Notifications are lost while disconnected.
      stopListening = database.listen(channel, handleChange, handleChange)
    },
    async waitForChange(known, timeoutMs, signal) {
      if (version === known) await sleepUntil(changed.promise, timeoutMs, signal)
      return version
    },
    async stop() {
      changed.resolve()
      await stopListening?.()
    },
  }
}
