import { createBackoff } from './backoff.ts'

export interface Connection {
  /** Drops what is there and connects anew after the usual wait. */
  restart(): void
  close(): void
}

export interface ConnectionOptions {
  /** Path and query, asked for at every attempt. */
  path(): string
  onMessage(data: string | ArrayBuffer): void
  /** The connection ended or never came about; another attempt follows by itself. */
  onLost(reason: string): void
}

/** A WebSocket that comes back for ever. */
export function connect({ path, onMessage, onLost }: ConnectionOptions): Connection {
  const backoff = createBackoff(Math.random)
  let socket: WebSocket
  let timer: ReturnType<typeof setTimeout> | undefined
  let closed = false

  const open = () => {
    const current = new WebSocket(path())
    current.binaryType = 'arraybuffer'
    current.onmessage = ({ data }) => {
      if (current !== socket) return
      backoff.reset()
      onMessage(data)
    }
    current.onclose = ({ reason }) => {
      if (closed || current !== socket) return
      onLost(reason || 'the connection was lost')
      timer = setTimeout(open, backoff.nextMs())
    }
    socket = current
  }
  open()

  return {
    restart: () => socket.close(),
    close() {
      closed = true
      clearTimeout(timer)
      socket.close()
    },
  }
}
