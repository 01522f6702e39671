import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { WebSocket, WebSocketServer } from 'ws'

/**
 * The page of `eyrie plugin dev`: the live view with its objects, next to events,
 * log entries and errors.
 */
export interface DevelopmentPage {
  /**
   * Address of the page. It contains a secret, so that other pages in the browser cannot read it.
   */
  url: string
  /**
   * Sends a message to all browsers that show the page. Browsers that open it later receive the
   * last messages, without frames.
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

const FOLDER = join(import.meta.dirname, 'page')
const FILES: Readonly<Record<string, string>> = {
  '': 'text/html; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
}
const MAX_HISTORY = 200
/** Kinds of which only the newest message matters. */
const STATUS_KINDS = new Set(['plugin', 'count', 'stats'])

/**
 * Serves the page on this machine. `port` 0 selects a free one. `openLiveView` is undefined if
 * the source has none.
 */
export async function serveDevelopmentPage(
  port: number,
  openLiveView: OpenLiveView | undefined,
): Promise<DevelopmentPage> {
  const secret = randomBytes(16).toString('hex')
  const history = new MessageHistory()
  const browsers = new Set<WebSocket>()
  const server = createServer((request, response) => void serveFile(request, response, secret))
  const sockets = new WebSocketServer({ noServer: true })

  function addBrowser(browser: WebSocket): void {
    for (const message of history.list()) browser.send(JSON.stringify(message))
    browsers.add(browser)
    browser.on('close', () => browsers.delete(browser))
  }

  server.on('upgrade', (request, socket, head) => {
    const path = findPath(request, secret)
    const accept = (onOpen: (browser: WebSocket) => void) =>
      sockets.handleUpgrade(request, socket, head, browser => {
        // Each error is followed by 'close'. Without this listener, it would end the command.
        browser.on('error', () => {})
        onOpen(browser)
      })
    if (path === 'messages') {
      accept(addBrowser)
    } else if (path === 'live' && openLiveView) {
      accept(browser => void relayLiveView(browser, openLiveView))
    } else {
      socket.destroy()
    }
  })

  const address = await listen(server, port)
  return {
    url: `http://127.0.0.1:${address.port}/${secret}/`,
    send(message) {
      history.add(message)
      const text = JSON.stringify(message)
      for (const browser of browsers) browser.send(text)
    },
    async close() {
      for (const client of sockets.clients) client.terminate()
      server.closeAllConnections()
      await new Promise(closed => server.close(closed))
    },
  }
}

/** The messages that a browser receives when it opens the page. */
class MessageHistory {
  readonly #status = new Map<string, PageMessage>()
  readonly #others: PageMessage[] = []

  add(message: PageMessage): void {
    if (message.kind === 'frame') return
    if (STATUS_KINDS.has(message.kind)) {
      this.#status.set(message.kind, message)
      return
    }
    this.#others.push(message)
    if (this.#others.length > MAX_HISTORY) this.#others.shift()
  }

  list(): PageMessage[] {
    return [...this.#status.values(), ...this.#others]
  }
}

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
 * Returns the path after the secret. Returns undefined if the secret is wrong, or a page of another
 * origin sent the request.
 */
function findPath({ url = '', headers }: IncomingMessage, secret: string): string | undefined {
  const prefix = `/${secret}/`
  const isForeign = headers.origin !== undefined && headers.origin !== `http://${headers.host}`
  const isAllowed = url.startsWith(prefix) && !isForeign
  return isAllowed ? url.slice(prefix.length) : undefined
}

async function serveFile(
  request: IncomingMessage,
  response: ServerResponse,
  secret: string,
): Promise<void> {
  const path = findPath(request, secret)
  const type = path === undefined ? undefined : FILES[path]
  if (type === undefined) return void response.writeHead(404).end()
  const content = await readFile(join(FOLDER, path || 'index.html'))
  response.writeHead(200, {
    'Content-Type': type,
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
