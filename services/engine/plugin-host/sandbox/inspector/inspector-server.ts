import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { pathToFileURL } from 'node:url'
import { tryParseJson } from '@eyrie/contract/parse'
import { type WebSocket, WebSocketServer } from 'ws'
import { encodeMessage, MESSAGE_KIND, MessageDecoder } from '../process/message-stream.ts'

/** Offers sandboxed processes to debuggers on this machine, as Node does with --inspect: Chrome and editors find them there. */
export interface InspectorServer {
  readonly port: number
  /** Offers the process of an element instead of the one that had the same title, from which debuggers are disconnected. */
  add(process: InspectedProcess): void
  close(): Promise<void>
}

export interface InspectedProcess {
  title: string
  /** Path of the entry module of the plugin. */
  entry: string
  /** The socket to the thread of the process that serves debuggers. */
  socket: Socket
}

/** A process to which a debugger can connect. */
interface Target {
  id: string
  title: string
  url: string
  connect(debuggerSocket: WebSocket): void
  disconnect(): void
}

/** Large enough for the source of a module with its source map. */
const MAX_MESSAGE_BYTES = 32 * 2 ** 20
const MESSAGE_LIMITS = new Map<number, number>([[MESSAGE_KIND.answer, MAX_MESSAGE_BYTES]])

/** Listens on the loopback. `plugin` is the one whose processes are offered. Rejects if the port is in use. */
export async function serveInspector(plugin: string, port: number): Promise<InspectorServer> {
  const targets = new Map<string, Target>()
  const sockets = new WebSocketServer({ noServer: true })
  const server = createServer((request, response) => {
    if (!isLocal(request)) return void response.writeHead(403).end()
    sendJson(response, describe(request.url ?? ''))
  })
  server.on('upgrade', (request, socket, head) => {
    const target = [...targets.values()].find(({ id }) => request.url === `/${id}`)
    if (!target || !isLocal(request)) return socket.destroy()
    sockets.handleUpgrade(request, socket, head, debuggerSocket => target.connect(debuggerSocket))
  })
  await new Promise<void>((listening, failed) =>
    server.once('error', failed).listen(port, '127.0.0.1', listening),
  )
  const { port: actualPort } = server.address() as AddressInfo

  function describe(path: string): unknown {
    if (path === '/json/version')
      return { Browser: `node.js/${process.version}`, 'Protocol-Version': '1.1', 'Eyrie-Plugin': plugin }
    if (path !== '/json' && path !== '/json/list') return undefined
    return [...targets.values()].map(({ id, title, url }) => {
      const address = `127.0.0.1:${actualPort}/${id}`
      return {
        ...{ id, title, url, type: 'node', description: 'element of an Eyrie pipeline' },
        devtoolsFrontendUrl: `devtools://devtools/bundled/js_app.html?experiments=true&v8only=true&ws=${address}`,
        webSocketDebuggerUrl: `ws://${address}`,
      }
    })
  }

  return {
    port: actualPort,
    add(inspected) {
      const { title, socket } = inspected
      targets.get(title)?.disconnect()
      const target = createTarget(inspected)
      targets.set(title, target)
      socket.on('close', () => {
        target.disconnect()
        if (targets.get(title) === target) targets.delete(title)
      })
    },
    async close() {
      for (const target of targets.values()) target.disconnect()
      server.closeAllConnections()
      await new Promise(closed => server.close(closed))
    },
  }
}

function createTarget({ title, entry, socket }: InspectedProcess): Target {
  const decoder = new MessageDecoder(MESSAGE_LIMITS)
  let connected: WebSocket | undefined
  const send = (message: object) => {
    if (socket.writable) socket.write(encodeMessage(MESSAGE_KIND.request, message))
  }
  socket.on('data', bytes => {
    try {
      for (const { body } of decoder.decode(bytes)) connected?.send(body.toString())
    } catch {
      socket.destroy()
    }
  })
  socket.on('error', () => {})

  function disconnect(): void {
    connected?.terminate()
    connected = undefined
    send({ type: 'disconnect' })
  }

  return {
    id: randomUUID(),
    title,
    url: pathToFileURL(entry).href,
    connect(debuggerSocket) {
      if (connected) disconnect()
      connected = debuggerSocket
      send({ type: 'connect' })
      debuggerSocket.on('message', data =>
        send({ type: 'command', command: tryParseJson(String(data)) ?? {} }),
      )
      debuggerSocket.on('error', () => {})
      debuggerSocket.on('close', () => {
        if (connected === debuggerSocket) disconnect()
      })
    },
    disconnect,
  }
}

/** Whether a request is one of a program on this machine, and of no page in a browser: neither of a foreign host name, nor of an origin. */
function isLocal({ headers }: IncomingMessage): boolean {
  const isLocalName = /^(localhost|127\.0\.0\.1)(:\d+)?$/.test(headers.host ?? '')
  return isLocalName && (headers.origin === undefined || headers.origin.startsWith('devtools://'))
}

function sendJson(response: ServerResponse, value: unknown): void {
  if (value === undefined) return void response.writeHead(404).end()
  response.writeHead(200, { 'Content-Type': 'application/json; charset=UTF-8', 'Cache-Control': 'no-cache' })
  response.end(JSON.stringify(value))
}
