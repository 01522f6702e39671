import type { Gap, OutputMessage } from '@eyrie/contract'
import { durableKinds, type MessageKind } from '@eyrie/contract'
import type { ReceivedMessage } from './ingest-port.ts'

/** How far the output of an engine has been followed. */
export interface OutputPosition {
  log_id: string | null
  seq: number
}

export type Durable = Extract<OutputMessage, { kind: 'event' | 'count' | 'state' | 'picture' }>

export interface Taken {
  place: OutputPosition
  /** What has not come before, with the log that it is of. */
  messages: { log_id: string; message: Durable }[]
  gaps: Gap[]
}

/** Follows what an engine's output has brought, from a place on. Another log is followed from its beginning. */
export function advance(before: OutputPosition, received: readonly ReceivedMessage[]): Taken {
  let place = before
  const messages: Taken['messages'] = []
  const gaps: Gap[] = []
  for (const each of received) {
    if (each.kind === 'hello') {
      if (each.log_id !== place.log_id) place = { log_id: each.log_id, seq: 0 }
      continue
    }
    const { log_id } = place
    if (log_id === null) throw new Error('the first message of an output is its hello')
    if (each.kind === 'gap') {
      if (each.to > place.seq) gaps.push(each)
      place = { log_id, seq: Math.max(place.seq, each.to) }
    } else if (each.seq > place.seq) {
      if (isDurable(each)) messages.push({ log_id, message: each })
      place = { log_id, seq: each.seq }
    }
  }
  return { place, messages, gaps }
}

const isDurable = (message: OutputMessage): message is Durable =>
  durableKinds.has(message.kind satisfies MessageKind)
