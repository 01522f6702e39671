/** The messages with a problem: the first and the last sequence number, and how many there are. */
export interface ProblemMessages {
  from: number
  to: number
  count: number
}

/** The problem that was logged longest ago is deleted when there are more. */
const MAX_PROBLEMS = 1000

/**
 * Decides when the problems of messages are logged. A problem is due when it first occurs, and then
 * at most once per interval: a plugin whose every message has it must not fill the log.
 */
export class RepeatedProblems {
  readonly #intervalMs: number
  readonly #now: () => number
  readonly #problems = new Map<string, { loggedAt: number; unlogged?: ProblemMessages }>()

  /** `now` returns the time of a monotonic clock in ms. */
  constructor(intervalMs: number, now: () => number) {
    this.#intervalMs = intervalMs
    this.#now = now
  }

  /**
   * Counts a message with a problem. Returns the messages since the problem was last logged if it
   * is due, and undefined otherwise.
   */
  count(problem: string, seq: number): ProblemMessages | undefined {
    const { loggedAt = Number.NEGATIVE_INFINITY, unlogged } = this.#problems.get(problem) ?? {}
    const messages = unlogged
      ? { from: unlogged.from, to: seq, count: unlogged.count + 1 }
      : { from: seq, to: seq, count: 1 }
    const now = this.#now()
    if (now - loggedAt < this.#intervalMs) {
      this.#problems.set(problem, { loggedAt, unlogged: messages })
      return undefined
    }

    // Inserts the problem as the last one.
    this.#problems.delete(problem)
    this.#problems.set(problem, { loggedAt: now })
    const [oldest] = this.#problems.keys()
    if (this.#problems.size > MAX_PROBLEMS) this.#problems.delete(oldest!)
    return messages
  }
}
