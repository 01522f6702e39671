import { backoffDelayMs } from '@eyrie/contract/backoff'

/** A WebSocket to the management service that is opened again whenever its connection is lost. */
export interface ReconnectingSocket {
  /**
   * Closes the connection, if it is open, and reconnects after the back-off. Passes the
   * reason to `onDisconnect`.
   */
  reconnect(reason: string): void
  close(): void
}

export interface ReconnectingSocketOptions {
  /** Returns the path and query of the socket. Called for every attempt. */
  path(): string
  onMessage(data: string | ArrayBuffer): void
  /**
   * Called when the connection is lost or could not be opened. The next attempt is
   * then already scheduled.
   */
  onDisconnect(reason: string): void
}

const BACKOFF = { initialMs: 500, maxMs: 10_000 }
/** A connection that lasted longer than this resets the back-off. */
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
    // A socket may still emit events after it has been replaced.
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
    state = { kind: 'waiting', timer: setTimeout(open, backoffDelayMs(failures, BACKOFF)) }
    failures += 1
    socket.close()
    onDisconnect(reason)
  }

  open()
  return {
    reconnect,
    close() {
      const previous = state
      state = { kind: 'closed' }
      if (previous.kind === 'open') previous.socket.close()
      if (previous.kind === 'waiting') clearTimeout(previous.timer)
    },
  }
}
