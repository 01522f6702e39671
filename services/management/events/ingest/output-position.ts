import { DURABLE_KINDS, type Gap, type MessageKind, type OutputMessage } from '@eyrie/contract'
import type { ReceivedMessage } from './ingest-port.ts'

/**
 * The position in an engine's output up to which messages are stored. An engine numbers
 * the messages of its output log, starting at 1. An engine that has lost its data starts a
 * new log with a new id.
 */
export interface OutputPosition {
  log_id: string | null
  seq: number
}

/** A message that the engine stores until it is acknowledged. */
export type DurableMessage = Extract<
  OutputMessage,
  { kind: 'event' | 'count' | 'state' | 'picture' }
>

/** The result of advancing a position by received messages. */
export interface OutputProgress {
  position: OutputPosition
  /** The durable messages after the start position, each with the id of its log. */
  messages: { log_id: string; message: DurableMessage }[]
  /**
   * The ranges of messages that the engine has deleted from its log before they were stored here.
   */
  gaps: Gap[]
}

/** Advances a position past received messages. Messages before the position are ignored. */
export function advancePosition(
  start: OutputPosition,
  received: readonly ReceivedMessage[],
): OutputProgress {
  let position = start
  const messages: OutputProgress['messages'] = []
  const gaps: Gap[] = []
  for (const message of received) {
    // The first message of a connection contains the id of the log.
    if (message.kind === 'hello') {
      const isNewLog = message.log_id !== position.log_id
      if (isNewLog) position = { log_id: message.log_id, seq: 0 }
      continue
    }

    const { log_id: logId } = position
    if (logId === null) throw new Error('the output of an engine must start with hello')

    if (message.kind === 'gap') {
      if (message.to > position.seq) gaps.push(message)
      position = { log_id: logId, seq: Math.max(position.seq, message.to) }
    } else if (message.seq > position.seq) {
      if (isDurable(message)) messages.push({ log_id: logId, message })
      position = { log_id: logId, seq: message.seq }
    }
  }
  return { position, messages, gaps }
}

const isDurable = (message: OutputMessage): message is DurableMessage =>
  DURABLE_KINDS.has(message.kind satisfies MessageKind)
