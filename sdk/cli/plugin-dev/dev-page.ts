import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { WebSocket, WebSocketServer } from 'ws'

/** The page of `eyrie plugin dev`: the live view with its objects, next to events, log entries and errors. */
export interface DevelopmentPage {
  /** Its address contains a secret, so that other pages in the browser cannot read it. */
  url: string
  /** Sends a message to all open pages. Pages that open later receive the last messages, but no frames. */
  send(message: PageMessage): void
  close(): Promise<void>
}

export interface PageMessage {
  readonly kind: string
  readonly [field: string]: unknown
}

/** Returns the address of a live view of the media service, which is valid for one connection. */
export type OpenLiveView = () => Promise<string>

const FOLDER = join(import.meta.dirname, 'page')
const FILES: Readonly<Record<string, string>> = {
  '': 'text/html; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
}
const MAX_HISTORY = 200
/** Kinds of which a page needs only the newest message. */
const STATUS_KINDS = new Set(['plugin', 'count', 'stats'])

/** Serves the page on this machine. `port` 0 selects a free one. `openLiveView` is undefined if the source has none. */
export async function serveDevelopmentPage(
  port: number,
  openLiveView: OpenLiveView | undefined,
): Promise<DevelopmentPage> {
  const secret = randomBytes(16).toString('hex')
  const status = new Map<string, PageMessage>()
  const history: PageMessage[] = []
  const pages = new Set<WebSocket>()
  const server = createServer((request, response) => void serveFile(request, response, secret))
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    const path = findPath(request, secret)
    if (path !== 'messages' && !(path === 'live' && openLiveView)) return socket.destroy()
    sockets.handleUpgrade(request, socket, head, page => {
      page.on('error', () => {})
      if (path === 'live') return void relayLiveView(page, openLiveView!)
      for (const message of [...status.values(), ...history]) page.send(JSON.stringify(message))
      pages.add(page)
      page.on('close', () => pages.delete(page))
    })
  })
  const address = await listen(server, port)
  return {
    url: `http://127.0.0.1:${address.port}/${secret}/`,
    send(message) {
      if (STATUS_KINDS.has(message.kind)) status.set(message.kind, message)
      else if (message.kind !== 'frame') {
        history.push(message)
        if (history.length > MAX_HISTORY) history.shift()
      }
      const text = JSON.stringify(message)
      for (const page of pages) page.send(text)
    },
    async close() {
      for (const client of sockets.clients) client.terminate()
      server.closeAllConnections()
      await new Promise(closed => server.close(closed))
    },
  }
}

function listen(server: Server, port: number): Promise<AddressInfo> {
  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>()
  server.once('error', cause =>
    reject(
      new Error(
        `the page cannot be served on port ${port} (${(cause as NodeJS.ErrnoException).code}): choose another --page-port`,
        { cause },
      ),
    ),
  )
  server.listen(port, '127.0.0.1', () => resolve(server.address() as AddressInfo))
  return promise
}

/** Returns the path after the secret; undefined if the request does not contain it, or was sent by a page of another origin. */
function findPath({ url = '', headers }: IncomingMessage, secret: string): string | undefined {
  const [, given, ...rest] = url.split('/')
  const isForeign = headers.origin !== undefined && headers.origin !== `http://${headers.host}`
  return given === secret && rest.length > 0 && !isForeign ? rest.join('/') : undefined
}

async function serveFile(request: IncomingMessage, response: ServerResponse, secret: string): Promise<void> {
  const path = findPath(request, secret)
  const type = path === undefined ? undefined : FILES[path]
  if (type === undefined) return void response.writeHead(404).end()
  const content = await readFile(join(FOLDER, path || 'index.html'))
  response.writeHead(200, {
    'Content-Type': type,
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'self'; media-src blob:; img-src data:; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
  })
  response.end(content)
}

/** Passes a live view of the media service on to a page. */
async function relayLiveView(page: WebSocket, open: OpenLiveView): Promise<void> {
  const url = await open().catch(() => undefined)
  if (url === undefined) return page.close()
  const media = new WebSocket(url)
  media.on('message', (data, isBinary) => page.send(isBinary ? data : String(data)))
  media.on('error', () => {})
  media.on('close', () => page.close())
  page.on('close', () => media.terminate())
}
