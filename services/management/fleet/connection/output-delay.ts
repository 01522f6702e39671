import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from '@eyrie/client'

/** Interval at which `watch` checks what has been stored. */
const POLL_MS = 100
/**
 * Maximum time until the newest message of the engine is stored. If it takes longer, many messages
 * may have been added meanwhile, and the engine is asked again.
 */
const MAX_STORE_MS = 1000
/**
 * An engine that has sent nothing for this long has sent everything. Its newest message may never
 * be sent, for example because a new consumer receives only later ones.
 */
const MAX_SILENCE_MS = 10_000
/** A connection on which no ping was answered for this long may be lost. */
const MAX_PONG_AGE_MS = 3000

/** The messages that were received, but are not stored yet. */
interface WaitingMessages {
  /** How long the oldest of them has been waiting, in ms; 0 if there is none. */
  getDelayMs(): number
}

/**
 * Measures how far the stored output is behind the engine. After an outage, the engine first sends
 * what has not been stored yet. The output has caught up when the message is stored that was the
 * engine's newest one a moment ago.
 */
export interface OutputDelay {
  /**
   * Returns a time in ms: everything that the engine had published this long ago is stored.
   * Undefined while there may be more messages that were not received yet.
   */
  getMs(): number | undefined
  /** Records that the messages up to a sequence number are stored. */
  recordStored(seq: number): void
  /** Records that reading has paused, so that an unknown number of messages waits to be read. */
  recordPause(): void
  /** Records that the engine has answered a ping. */
  recordContact(): void
  /** Asks the engine for its newest message when that is needed. Rejects when the signal aborts. */
  watch(signal: AbortSignal): Promise<never>
}

export function createOutputDelay(engine: Client, waiting: WaitingMessages): OutputDelay {
  let storedSeq = 0
  /** When messages were last stored. Undefined before the first ones. */
  let storedAt: number | undefined
  let pausedAt = 0
  /** When the output had last caught up. */
  let caughtUpAt = 0
  /** When a ping was last answered. Undefined before the first time: a proxy may drop pings. */
  let pongAt: number | undefined

  const isConnectionLost = () =>
    pongAt !== undefined && performance.now() - pongAt > MAX_PONG_AGE_MS
  const hasCaughtUp = () => caughtUpAt > pausedAt

  /** Whether everything up to the engine's newest message is stored. */
  function isStored(newest: number | undefined): boolean {
    if (newest !== undefined && storedSeq >= newest) return true
    return waiting.getDelayMs() === 0 && performance.now() - storedAt! > MAX_SILENCE_MS
  }

  async function catchUp(signal: AbortSignal): Promise<void> {
    const newest = await readNewest(engine)
    const announcedAt = performance.now()
    while (!isStored(newest)) await wait(POLL_MS, undefined, { signal })
    if (performance.now() - announcedAt <= MAX_STORE_MS) caughtUpAt = announcedAt
  }

  return {
    getMs: () => (hasCaughtUp() && !isConnectionLost() ? waiting.getDelayMs() : undefined),

    recordStored(seq) {
      storedSeq = seq
      storedAt = performance.now()
    },

    recordPause() {
      pausedAt = performance.now()
    },

    recordContact() {
      // Meanwhile, the engine may have had messages that it could not send.
      if (isConnectionLost()) pausedAt = performance.now()
      pongAt = performance.now()
    },

    async watch(signal) {
      for (;;) {
        if (storedAt !== undefined && !hasCaughtUp()) await catchUp(signal)
        await wait(POLL_MS, undefined, { signal })
      }
    },
  }
}

/**
 * Resolves to the sequence number of the newest message in the engine's output log. Another
 * connection is needed for this, because an engine announces it only when a connection begins.
 */
async function readNewest(engine: Client): Promise<number | undefined> {
  for await (const message of engine.output({ kinds: ['state'] })) {
    if (message.kind === 'hello') return message.newest
  }
  return undefined
}
