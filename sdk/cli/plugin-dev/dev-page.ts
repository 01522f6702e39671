import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { WebSocket, WebSocketServer } from 'ws'

/**
 * The page of `eyrie plugin dev`: the live view with its objects, next to events, log entries and
 * errors. The command serves it on this machine. Browsers receive messages and the live view
 * through two WebSockets.
 */
export interface DevelopmentPage {
  /**
   * Address of the page. It contains a secret, so that only a browser that knows the address can
   * read the page: websites in other tabs can send requests to this machine, too.
   */
  url: string
  /**
   * Sends a message to all browsers that show the page. A browser that opens the page later
   * receives the last messages, except frames.
   */
  send(message: PageMessage): void
  close(): Promise<void>
}

export interface PageMessage {
  readonly kind: string
  readonly [field: string]: unknown
}

/** Returns the address of a live view of the media service, which is valid for one connection. */
export type OpenLiveView = () => Promise<string>

const SECRET_BYTES = 16
const PAGE_FOLDER = join(import.meta.dirname, 'page')
/** The files of the page, by path after the secret. */
const PAGE_FILES = new Map([
  ['', { name: 'index.html', type: 'text/html; charset=utf-8' }],
  ['page.js', { name: 'page.js', type: 'text/javascript; charset=utf-8' }],
  ['page.css', { name: 'page.css', type: 'text/css; charset=utf-8' }],
])

/**
 * Serves the page on a port of this machine. The port 0 selects a free one. `openLiveView` is
 * undefined if the source has no live view.
 */
export async function serveDevelopmentPage(
  port: number,
  openLiveView: OpenLiveView | undefined,
): Promise<DevelopmentPage> {
  const secret = randomBytes(SECRET_BYTES).toString('hex')
  const messages = new MessageBroadcast()
  const server = createServer((request, response) => void serveFile(request, response, secret))
  const sockets = new WebSocketServer({ noServer: true })

  /** What happens with the WebSocket of a browser, by path after the secret. */
  const connectByPath = new Map<string, (browser: WebSocket) => void>()
  connectByPath.set('messages', browser => messages.addBrowser(browser))
  if (openLiveView) {
    connectByPath.set('live', browser => void relayLiveView(browser, openLiveView))
  }

  server.on('upgrade', (request, socket, head) => {
    const path = authorizePath(request, secret)
    const connect = path === undefined ? undefined : connectByPath.get(path)
    if (!connect) {
      socket.destroy()
      return
    }
    sockets.handleUpgrade(request, socket, head, browser => {
      // Each error is followed by 'close'. Without this listener, it would end the command.
      browser.on('error', () => {})
      connect(browser)
    })
  })

  const address = await listen(server, port)
  return {
    url: `http://127.0.0.1:${address.port}/${secret}/`,
    send: message => messages.send(message),
    async close() {
      for (const client of sockets.clients) client.terminate()
      server.closeAllConnections()
      await new Promise(closed => server.close(closed))
    },
  }
}

/** Sends messages to all browsers, and the last messages to a browser that opens the page. */
class MessageBroadcast {
  readonly #browsers = new Set<WebSocket>()
  readonly #history = new MessageHistory()

  addBrowser(browser: WebSocket): void {
    for (const message of this.#history.list()) browser.send(JSON.stringify(message))
    this.#browsers.add(browser)
    browser.on('close', () => this.#browsers.delete(browser))
  }

  send(message: PageMessage): void {
    this.#history.add(message)
    const text = JSON.stringify(message)
    for (const browser of this.#browsers) browser.send(text)
  }
}

/** Kinds of messages that describe a status. Only the newest message of each kind matters. */
const STATUS_KINDS = new Set(['plugin', 'count', 'stats'])
const MAX_ENTRIES = 200

/** The messages that a browser receives when it opens the page. */
class MessageHistory {
  /** The newest message of each status kind. */
  readonly #statuses = new Map<string, PageMessage>()
  /** The last messages of other kinds, such as events and log entries, oldest first. */
  readonly #entries: PageMessage[] = []

  add(message: PageMessage): void {
    if (message.kind === 'frame') return
    if (STATUS_KINDS.has(message.kind)) {
      this.#statuses.set(message.kind, message)
      return
    }
    this.#entries.push(message)
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift()
  }

  list(): PageMessage[] {
    return [...this.#statuses.values(), ...this.#entries]
  }
}

/** Starts the server. Rejects with the remedy if the port is in use. */
function listen(server: Server, port: number): Promise<AddressInfo> {
  const { promise, resolve, reject } = Promise.withResolvers<AddressInfo>()
  server.once('error', (cause: NodeJS.ErrnoException) => {
    const reason = `the page cannot be served on port ${port} (${cause.code}): choose another --page-port`
    reject(new Error(reason, { cause }))
  })
  server.listen(port, '127.0.0.1', () => resolve(server.address() as AddressInfo))
  return promise
}

/**
 * Authorizes a request, and returns its path after the secret. Returns undefined if the secret is
 * wrong, or if a page of another website sent the request.
 */
function authorizePath({ url = '', headers }: IncomingMessage, secret: string): string | undefined {
  const { origin, host } = headers
  const isFromOtherSite = origin !== undefined && origin !== `http://${host}`
  const prefix = `/${secret}/`
  if (isFromOtherSite || !url.startsWith(prefix)) return undefined
  return url.slice(prefix.length)
}

async function serveFile(
  request: IncomingMessage,
  response: ServerResponse,
  secret: string,
): Promise<void> {
  const path = authorizePath(request, secret)
  const file = path === undefined ? undefined : PAGE_FILES.get(path)
  if (!file) {
    response.writeHead(404).end()
    return
  }
  const content = await readFile(join(PAGE_FOLDER, file.name))
  response.writeHead(200, {
    'Content-Type': file.type,
    'Cache-Control': 'no-store',
    'Content-Security-Policy':
      "default-src 'self'; media-src blob:; img-src data:; frame-ancestors 'none'",
    'Referrer-Policy': 'no-referrer',
  })
  response.end(content)
}

/**
 * Relays a live view of the media service to a browser. If it cannot be opened, closes the
 * connection: the page tries again.
 */
async function relayLiveView(browser: WebSocket, openLiveView: OpenLiveView): Promise<void> {
  const url = await openLiveView().catch(() => undefined)
  if (url === undefined) return browser.close()
  // The browser may have disconnected in the meantime.
  if (browser.readyState !== WebSocket.OPEN) return
  const media = new WebSocket(url)
  media.on('message', (data, isBinary) => browser.send(isBinary ? data : String(data)))
  // Each error is followed by 'close'.
  media.on('error', () => {})
  media.on('close', () => browser.close())
  browser.on('close', () => media.terminate())
}
