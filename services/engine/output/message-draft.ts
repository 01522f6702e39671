import type { OutputMessage } from '@eyrie/contract'

type WithoutSeq<Message> = Message extends { seq: number } ? Omit<Message, 'seq'> : never

/** An output message that the output log has not numbered yet. */
export type MessageDraft = WithoutSeq<OutputMessage>

/** Accepts messages without blocking: a message that has to wait is queued. */
export interface Publisher {
  publish(draft: MessageDraft): void
}
