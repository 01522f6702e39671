import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { pathToFileURL } from 'node:url'
import { tryParseJson } from '@eyrie/contract/parse'
import { type WebSocket, WebSocketServer } from 'ws'
import type { InspectorCommand, ToInspector } from '../process/inspector-thread.ts'
import { encodeMessage, MESSAGE_KIND, MessageDecoder } from '../process/message-stream.ts'

/**
 * Offers sandboxed processes to debuggers on this machine, such as Chrome and editors. To a
 * debugger, they look like processes of Node with the option `--inspect`.
 */
export interface InspectorServer {
  readonly port: number
  /**
   * Offers the process of an element to debuggers. It replaces an earlier process
   * with the same title.
   */
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

const LOOPBACK = '127.0.0.1'
/** Maximum size of an answer, which is enough for the source of a module with its source map. */
const MAX_ANSWER_BYTES = 32 * 2 ** 20
const MESSAGE_LIMITS = new Map<number, number>([[MESSAGE_KIND.answer, MAX_ANSWER_BYTES]])

/**
 * Listens on the loopback interface. `plugin` is the name of the plugin whose processes are
 * offered. Rejects if the port is in use.
 */
export async function serveInspector(plugin: string, port: number): Promise<InspectorServer> {
  const targets = new Map<string, Target>()
  const debuggers = new WebSocketServer({ noServer: true })
  const server = createServer((request, response) => {
    if (!isLocal(request)) return void response.writeHead(403).end()
    sendJson(response, answerDiscovery(request.url))
  })
  server.on('upgrade', (request, socket, head) => {
    const target = [...targets.values()].find(({ id }) => request.url === `/${id}`)
    if (!target || !isLocal(request)) return socket.destroy()
    debuggers.handleUpgrade(request, socket, head, debuggerSocket => target.connect(debuggerSocket))
  })
  server.listen(port, LOOPBACK)
  await once(server, 'listening')
  const { port: actualPort } = server.address() as AddressInfo

  /** Returns what Node serves at these paths; undefined for other paths. */
  function answerDiscovery(path: string | undefined): unknown {
    switch (path) {
      case '/json/version':
        return {
          Browser: `node.js/${process.version}`,
          'Protocol-Version': '1.1',
          'Eyrie-Plugin': plugin,
        }
      case '/json':
      case '/json/list':
        return [...targets.values()].map(describeTarget)
    }
  }

  function describeTarget({ id, title, url }: Target) {
    const address = `${LOOPBACK}:${actualPort}/${id}`
    return {
      id,
      title,
      url,
      type: 'node',
      description: 'element of an Eyrie pipeline',
      devtoolsFrontendUrl: `devtools://devtools/bundled/js_app.html?experiments=true&v8only=true&ws=${address}`,
      webSocketDebuggerUrl: `ws://${address}`,
    }
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

/** Passes messages between a process and one debugger at a time. */
function createTarget({ title, entry, socket }: InspectedProcess): Target {
  const decoder = new MessageDecoder(MESSAGE_LIMITS)
  let connected: WebSocket | undefined

  const send = (message: ToInspector) => {
    if (socket.writable) socket.write(encodeMessage(MESSAGE_KIND.request, message))
  }
  socket.on('data', bytes => {
    try {
      for (const { body } of decoder.decode(bytes)) connected?.send(body.toString())
    } catch {
      // The code of the plugin has sent bytes that are no messages.
      socket.destroy()
    }
  })
  // The event `close` follows, in which the server removes the target.
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
      debuggerSocket.on('message', data => {
        // The thread answers an invalid command with an error.
        const command = (tryParseJson(String(data)) ?? {}) as InspectorCommand
        send({ type: 'command', command })
      })
      debuggerSocket.on('error', () => {})
      debuggerSocket.on('close', () => {
        if (connected === debuggerSocket) disconnect()
      })
    },
    disconnect,
  }
}

/**
 * Whether a program on this machine has sent a request, and not a web page in its browser. A web
 * page sends its origin, or the host name by which it has reached this machine.
 */
function isLocal({ headers }: IncomingMessage): boolean {
  const isLocalName = /^(localhost|127\.0\.0\.1)(:\d+)?$/.test(headers.host ?? '')
  const isWebPage = headers.origin !== undefined && !headers.origin.startsWith('devtools://')
  return isLocalName && !isWebPage
}

function sendJson(response: ServerResponse, value: unknown): void {
  if (value === undefined) return void response.writeHead(404).end()
  response.writeHead(200, {
    'Content-Type': 'application/json; charset=UTF-8',
    'Cache-Control': 'no-cache',
  })
  response.end(JSON.stringify(value))
}
