import { WebSocket } from 'ws'

/**
 * Clients of the output in a process of their own, as `node subscribers.ts` with an IPC channel: `{urls}` connects one
 * to each address and closes those before, and is answered with how many messages these have received.
 */
let sockets: WebSocket[] = []
let received = 0

process.on('message', async ({ urls }: { urls: string[] }) => {
  for (const socket of sockets) socket.terminate()
  const before = received
  received = 0
  sockets = urls.map(url => {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    socket.on('message', () => {
      received += 1
    })
    return socket
  })
  await Promise.all(sockets.map(socket => new Promise(resolve => socket.once('open', resolve))))
  process.send?.(before)
})
