import { backoffDelayMs } from '@eyrie/kit/backoff'

export interface Connection {
  /** Gives up what is there, for a reason, and connects anew after a wait. */
  drop(reason: string): void
  close(): void
}

export interface ConnectionOptions {
  /** Path and query, asked for at every attempt. */
  path(): string
  onMessage(data: string | ArrayBuffer): void
  /** The connection ended or never came about; another attempt follows by itself. */
  onLost(reason: string): void
}

const wait = { initialMs: 500, maxMs: 10_000 }
/** A connection that has lasted so long was a good one. */
const STEADY_MS = 10_000

/** A WebSocket that comes back for ever. */
export function connect({ path, onMessage, onLost }: ConnectionOptions): Connection {
  let socket: WebSocket | undefined
  let openedMs = 0
  let failures = 0
  let closed = false
  let timer: ReturnType<typeof setTimeout> | undefined

  function open() {
    const current = new WebSocket(path())
    current.binaryType = 'arraybuffer'
    current.onmessage = ({ data }) => {
      if (socket === current) onMessage(data)
    }
    current.onclose = ({ reason }) => {
      if (socket === current) drop(reason || 'the connection was lost')
    }
    socket = current
    openedMs = performance.now()
  }

  function leave() {
    const left = socket
    socket = undefined
    left?.close()
  }

  function drop(reason: string) {
    if (closed) return
    leave()
    onLost(reason)
    if (performance.now() - openedMs > STEADY_MS) failures = 0
    clearTimeout(timer)
    timer = setTimeout(open, backoffDelayMs(failures++, wait))
  }

  open()
  return {
    drop,
    close() {
      closed = true
      clearTimeout(timer)
      leave()
    },
  }
}
