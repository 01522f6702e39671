import type { OutputMessage } from '@eyrie/contract'

/**
 * A message for the clients of the engine, such as an event or a count, before it is assigned a
 * sequence number (`seq`).
 */
export type MessageDraft = WithoutSeq<OutputMessage>

/** Distributes over the union of message kinds, unlike a plain `Omit`. */
type WithoutSeq<Message> = Message extends { seq: number } ? Omit<Message, 'seq'> : never

/**
 * Accepts messages for the output without blocking. Channels, pipelines and sinks publish their
 * messages through it.
 */
export interface Publisher {
  publish(draft: MessageDraft): void
}
