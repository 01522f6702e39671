import { acknowledgement } from '@eyrie/contract'
import { tryParseJson } from '@eyrie/contract/parse'
import type { Socket } from './follower.ts'

/** WebSocket status: the client does not keep to the protocol (RFC 6455, section 7.4.1). */
const POLICY_VIOLATION = 1008

export interface AcknowledgementOptions {
  /** The last number that can have been received. */
  newest(): number
  /** Undefined where the connection is no consumer's. */
  acknowledge: ((seq: number) => void) | undefined
}

/** Takes `{"ack": seq}` from a client; one that sends anything else is told so and closed. */
export function takeAcknowledgements(socket: Socket, { newest, acknowledge }: AcknowledgementOptions): void {
  const refuse = (reason: string) => socket.close(POLICY_VIOLATION, reason)
  socket.on('message', data => {
    if (!acknowledge) return refuse('to acknowledge, connect with ?consumer=<name>')
    const message = acknowledgement.safeParse(tryParseJson(String(data)))
    if (!message.success) return refuse('send {"ack": <seq>} and nothing else')
    if (message.data.ack > newest()) return refuse(`${message.data.ack} has not been sent yet`)
    acknowledge(message.data.ack)
  })
}
