import type { Gap, Hello, OutputMessage } from '@eyrie/contract/output'
import { connect } from './reconnecting-socket.ts'

export interface OutputOptions {
  channel: number
  onMessage(message: OutputMessage): void
  /** The engine's log was made anew: what was known of the old one is void. */
  onReset(): void
  onLost(reason: string): void
  onConnected(): void
}

/** Follows a channel's output; after an interruption it goes on where it was, so that no event is missed. */
export function followOutput(options: OutputOptions): { close(): void } {
  let log: string | undefined
  let newest = 0

  const greet = ({ log_id }: Hello) => {
    if (log !== undefined && log !== log_id) {
      newest = 0
      options.onReset()
    }
    log = log_id
    options.onConnected()
  }

  return connect({
    path: () => `/live/output?channels=${options.channel}${newest > 0 ? `&since=${newest}` : ''}`,
    onLost: options.onLost,
    onMessage(data) {
      const message: OutputMessage | Hello | Gap = JSON.parse(data as string)
      if (message.kind === 'hello') return greet(message)
      if (message.kind === 'gap' || message.seq <= newest) return
      newest = message.seq
      options.onMessage(message)
    },
  })
}
