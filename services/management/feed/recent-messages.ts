import type { StoredFeedMessage } from './feed-log.ts'

/**
 * The newest messages of the live feed in memory: without gaps, in ascending order of their
 * positions.
 */
export class RecentMessages {
  readonly #messages: StoredFeedMessage[] = []
  readonly #capacity: number
  /** The position before the first message in memory. */
  #start: number

  /** @param start the position after which messages are added. */
  constructor(start: number, capacity: number) {
    this.#start = start
    this.#capacity = capacity
  }

  /** The position of the newest message. */
  get end(): number {
    return this.#messages.at(-1)?.position ?? this.#start
  }

  /**
   * Adds the messages that follow `end`. Drops the oldest ones if there are more than the capacity.
   */
  add(messages: readonly StoredFeedMessage[]): void {
    this.#messages.push(...messages)
    const excess = Math.max(0, this.#messages.length - this.#capacity)
    const dropped = this.#messages.splice(0, excess)
    this.#start = dropped.at(-1)?.position ?? this.#start
  }

  /**
   * Returns up to `limit` messages after a position, or undefined if some of them are not in
   * memory.
   */
  readAfter(position: number, limit: number): StoredFeedMessage[] | undefined {
    if (position < this.#start) return undefined
    const first = this.#messages.findIndex(message => message.position > position)
    return first === -1 ? [] : this.#messages.slice(first, first + limit)
  }
}
