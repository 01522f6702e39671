import type { OutputMessage } from '@eyrie/contract'

type WithoutSeq<Message> = Message extends { seq: number } ? Omit<Message, 'seq'> : never

/** An output message that has no number yet. */
export type MessageDraft = WithoutSeq<OutputMessage>

/** Accepts messages without blocking. */
export interface Publisher {
  publish(draft: MessageDraft): void
}
