import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { WebSocket } from 'ws'

/**
 * WebSocket clients in a process of their own, so that their CPU time is not counted with the
 * service's.
 */
export interface Subscribers {
  /**
   * Replaces the clients by one per URL. Resolves with the number of messages that the
   * former ones received.
   */
  connect(urls: string[]): Promise<number>
  stop(): void
}

export function startSubscribers(): Subscribers {
  const child: ChildProcess = fork(import.meta.filename)
  return {
    async connect(urls) {
      child.send({ urls })
      const [received] = await once(child, 'message')
      return received as number
    },
    stop: () => child.kill(),
  }
}

if (import.meta.main) {
  let sockets: WebSocket[] = []
  let received = 0

  process.on('message', async ({ urls }: { urls: string[] }) => {
    for (const socket of sockets) socket.terminate()
    const total = received
    received = 0
    sockets = urls.map(url => {
      const socket = new WebSocket(url, { perMessageDeflate: false })
      socket.on('message', () => {
        received += 1
      })
      return socket
    })
    await Promise.all(sockets.map(socket => once(socket, 'open')))
    process.send?.(total)
  })
}
