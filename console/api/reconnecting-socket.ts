import { backoffDelayMs } from '@eyrie/contract/backoff'

export interface ReconnectingSocket {
  /** Closes the connection for this reason and reconnects after the back-off. */
  reconnect(reason: string): void
  close(): void
}

export interface ReconnectingSocketOptions {
  /** Returns path and query; called for every attempt. */
  path(): string
  onMessage(data: string | ArrayBuffer): void
  /** The connection was lost or could not be opened. The next attempt is scheduled. */
  onDisconnect(reason: string): void
}

const BACKOFF = { initialMs: 500, maxMs: 10_000 }
/** A connection that lasted this long resets the back-off. */
const STABLE_MS = 10_000

/** Opens a WebSocket that reconnects with back-off until it is closed. */
export function openReconnectingSocket({
  path,
  onMessage,
  onDisconnect,
}: ReconnectingSocketOptions): ReconnectingSocket {
  let state:
    | { kind: 'open'; socket: WebSocket; openedMs: number }
    | { kind: 'waiting'; timer: ReturnType<typeof setTimeout> }
    | { kind: 'closed' }
  let failures = 0

  function open() {
    const socket = new WebSocket(path())
    const isCurrent = () => state.kind === 'open' && state.socket === socket
    socket.binaryType = 'arraybuffer'
    socket.onmessage = ({ data }) => {
      if (isCurrent()) onMessage(data)
    }
    socket.onclose = ({ reason }) => {
      if (isCurrent()) reconnect(reason || 'connection lost')
    }
    state = { kind: 'open', socket, openedMs: performance.now() }
  }

  function reconnect(reason: string) {
    if (state.kind !== 'open') return
    const { socket, openedMs } = state
    if (performance.now() - openedMs > STABLE_MS) failures = 0
    state = { kind: 'waiting', timer: setTimeout(open, backoffDelayMs(failures++, BACKOFF)) }
    socket.close()
    onDisconnect(reason)
  }

  open()
  return {
    reconnect,
    close() {
      const last = state
      state = { kind: 'closed' }
      if (last.kind === 'open') last.socket.close()
      if (last.kind === 'waiting') clearTimeout(last.timer)
    },
  }
}
