import type { FeedEvent } from '@eyrie/contract/management/feed'

/**
 * Time in which a client must receive what was sent; a slower one is disconnected
 * and may resume later.
 */
export const STALL_MS = 20_000

/** The feed of one connection. */
export interface FeedSource {
  /**
   * Yields batches of events until the signal is aborted. Throws when the client
   * must not receive more.
   */
  follow(signal: AbortSignal): AsyncGenerator<FeedEvent[]>
  /** Returns the event that tells the client why `follow` has thrown. */
  toEndEvent(error: unknown): FeedEvent
  stallMs?: number
}
