import type { ReceivedMessage } from '@eyrie/client'
import type { Transaction } from '../../db/database.ts'
import type { Contribution } from '../statistics/contribution.ts'

/**
 * A message of an engine's output: `hello` first on every connection (a new `log_id` means a new log, which is read from its
 * beginning), `gap` where the engine has dropped messages, and the durable messages.
 */
export type { ReceivedMessage }

/** Stores the output of engines. */
export interface Ingest {
  /**
   * Stores messages in order, together with the position in the engine's output (`engine_state.log_id` and `seq`), in one
   * transaction. Resolves after the commit to the last sequence number that the engine may discard. Messages that are
   * already stored change nothing. Never called concurrently for one engine.
   */
  consume(engine_id: string, messages: readonly ReceivedMessage[]): Promise<number>
}

/** The frame of an event, with its picture if that has already arrived. */
export interface EventFrame {
  epoch: number | null
  pts: number | null
  picture: string | null
}

/** A message that adds to the statistics of its channel. */
export interface ContributingMessage {
  channel_id: string
  /** Epoch ms. */
  timeMs: number
  contribution: Contribution
  /** Undefined for a count. */
  frame: EventFrame | undefined
}

/** Receives the messages that add to statistics, within the transaction that stores them: an error aborts it. */
export interface MessageSubscriber {
  /** Called before the messages are stored. Resolves to a function that is called once they are. */
  beforeStore(tx: Transaction, messages: readonly ContributingMessage[]): Promise<() => Promise<void>>
}
