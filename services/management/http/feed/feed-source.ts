import type { FeedEvent } from '@eyrie/contract/management/feed'

/** Time in which a client must receive what was sent; a slower one is disconnected and may resume later. */
export const STALL_MS = 20_000

/** The feed of one connection. */
export interface FeedSource {
  /** Yields what to send until the signal is aborted. */
  follow(signal: AbortSignal): AsyncGenerator<FeedEvent[]>
  /** Returns the last event of a feed that has failed. */
  toEnd(error: unknown): FeedEvent
  stallMs?: number
}
