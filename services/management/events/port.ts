import type { ReceivedMessage } from '@eyrie/client'

/**
 * What an engine's output brings: `hello` first on every connection (another `log_id` than before: another log, which is
 * followed from its beginning), `gap` where the engine no longer has messages, and the durable messages.
 */
export type { ReceivedMessage }

/** Takes the output of engines: what follows an engine hands it over, and acknowledges what has been taken. */
export interface Ingest {
  /**
   * Stores messages in the order of their coming, together with how far the engine's output has been followed
   * (`engine_state.log_id` and `seq`), in one transaction. Resolves, once that is committed, to the last number that is
   * not needed from the engine again. What has come before changes nothing. Never called twice at a time for one engine.
   */
  consume(engine_id: string, messages: readonly ReceivedMessage[]): Promise<number>
}
