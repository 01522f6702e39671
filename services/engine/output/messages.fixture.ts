import type { MessageDraft } from './message-draft.ts'

/** A message as a client receives it. */
export interface ReceivedMessage {
  kind: string
  seq?: number
  log_id?: string
  oldest?: number
  data?: unknown
  dropped?: number
}

export const origin = {
  source: 1,
  pipeline: 1,
  pts: 3000,
  epoch: 1,
  time: '2026-01-01T00:00:00.000Z',
}

export function event(channel: number, type: string): MessageDraft {
  return { kind: 'event', channel, ...origin, data: { type } }
}

export function frame(channel: number, n: number, name = 'door'): MessageDraft {
  return {
    kind: 'frame',
    channel,
    ...origin,
    data: { n, objects: [], counters: { [name]: { up: 1 } }, latency: 5 },
  }
}

export const isIncreasing = (numbers: number[]) =>
  numbers.every((n, index) => index === 0 || n > numbers[index - 1]!)
