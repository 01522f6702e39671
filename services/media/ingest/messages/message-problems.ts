import type { Log } from '@eyrie/kit'
import { RecentCounter } from '@eyrie/kit/recent-counter'

/** Records why messages that a sender has sent cannot be used. */
export interface MessageProblems {
  /** Counts a message that could not be read. */
  reject(reason: string): void
  /** Returns whether a message was ever rejected. */
  hasEverRejected(): boolean
  /** Describes the recent problems for the status of the source; undefined if there are none. */
  describe(): string | undefined
}

export interface MessageProblemsOptions {
  /** Id of the source. */
  source: number
  /** Address of the sender. */
  address: string
  /** Returns monotonic time in ms. */
  now: () => number
  /** How long rejected messages are reported. */
  memoryMs: number
  /** Returns the topics of recent messages that do not belong to the source. */
  otherTopics(): string[]
  log: Log
}

export function createMessageProblems(options: MessageProblemsOptions): MessageProblems {
  const { source, address, log } = options
  const counter = new RecentCounter(options.now, options.memoryMs)
  let lastReason: string | undefined

  function describeRejections(): string | undefined {
    const { recent } = counter
    if (recent === 0) return undefined
    const messages = recent === 1 ? '1 message' : `${recent} messages`
    return `${messages} could not be read; the last one because ${lastReason}`
  }

  return {
    reject(reason) {
      // A series of rejected messages is logged once, because they usually have the same problem.
      if (counter.recent === 0) log.warn({ source, address, reason }, 'failed to read message')
      counter.add()
      lastReason = reason
    },

    hasEverRejected: () => lastReason !== undefined,
    describe: () => describeRejections() ?? describeOtherTopics(options.otherTopics()),
  }
}

function describeOtherTopics(topics: readonly string[]): string | undefined {
  if (topics.length === 0) return undefined
  return `other topics are also sent (${topics.join(', ')}): select one with ?topic=, or add a source for each`
}
