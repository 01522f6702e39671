import type { ReceivedMessage } from '@eyrie/client'
import type { BBox } from '@eyrie/contract/object'
import type { Transaction } from '../../db/database.ts'
import type { Contribution } from '../statistics/contribution.ts'

/**
 * A message of an engine's output. `hello` is the first message of every connection; a new
 * `log_id` in it means that the engine has a new output log, which is read from its beginning.
 * `gap` reports dropped messages. All other messages are durable: the engine stores them until
 * they are acknowledged.
 */
export type { ReceivedMessage }

/** Stores the output of engines. */
export interface Ingest {
  /**
   * Stores messages in order, together with the position in the engine's output
   * (`engine_state.log_id` and `seq`), in one transaction. Messages that are already stored are
   * ignored. A message that cannot be stored because of its content is skipped and logged.
   * Resolves after the commit to the last sequence number that the engine may discard.
   * Must not be called concurrently for the same engine.
   */
  consume(engineId: string, messages: readonly ReceivedMessage[]): Promise<number>
  /**
   * Returns whether all events of an engine are lost, because none can be stored. Undefined at
   * first, until an event is stored or several are skipped.
   */
  areEventsLost(engineId: string): boolean | undefined
}

/** The video frame of a message. `epoch` and `pts` identify it within the stream. */
export interface MessageFrame {
  /** The run of the media service that `pts` belongs to: timestamps start over with each run. */
  epoch: number | null
  /** Timestamp within the stream. */
  pts: number | null
  /** The box of the object of the event; null for a count, or for an event without an object. */
  bbox: BBox | null
}

/** A message that adds to the statistics of its channel. */
export interface ContributingMessage {
  channel_id: string
  /** Epoch ms. */
  timeMs: number
  contribution: Contribution
  frame: MessageFrame
}

/**
 * Receives the messages that add to statistics. Runs in the transaction that stores the
 * messages: an error aborts it.
 */
export interface MessageSubscriber {
  /**
   * Called before the messages are stored. Resolves to a function that is called
   * after they are stored.
   */
  beforeStore(
    tx: Transaction,
    messages: readonly ContributingMessage[],
  ): Promise<() => Promise<void>>
}
