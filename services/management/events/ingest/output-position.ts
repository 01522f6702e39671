import { durableKinds, type Gap, type MessageKind, type OutputMessage } from '@eyrie/contract'
import type { ReceivedMessage } from './ingest-port.ts'

/** The position in an engine's output up to which messages have been processed. */
export interface OutputPosition {
  log_id: string | null
  seq: number
}

export type DurableMessage = Extract<OutputMessage, { kind: 'event' | 'count' | 'state' | 'picture' }>

export interface OutputProgress {
  position: OutputPosition
  /** New messages, each with its log. */
  messages: { log_id: string; message: DurableMessage }[]
  gaps: Gap[]
}

/** Advances a position and returns the new durable messages. A new log starts at sequence number 1. */
export function advancePosition(start: OutputPosition, received: readonly ReceivedMessage[]): OutputProgress {
  let position = start
  const messages: OutputProgress['messages'] = []
  const gaps: Gap[] = []
  for (const message of received) {
    if (message.kind === 'hello') {
      if (message.log_id !== position.log_id) position = { log_id: message.log_id, seq: 0 }
      continue
    }
    const { log_id } = position
    if (log_id === null) throw new Error('the output of an engine must start with hello')
    if (message.kind === 'gap') {
      if (message.to > position.seq) gaps.push(message)
      position = { log_id, seq: Math.max(position.seq, message.to) }
    } else if (message.seq > position.seq) {
      if (isDurable(message)) messages.push({ log_id, message })
      position = { log_id, seq: message.seq }
    }
  }
  return { position, messages, gaps }
}

const isDurable = (message: OutputMessage): message is DurableMessage =>
  durableKinds.has(message.kind satisfies MessageKind)
