import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { health } from '@eyrie/contract/health'
import { createAdaptorServer } from '@hono/node-server'
import { WebSocketServer } from 'ws'
import { handleMethodNotAllowed } from './http-errors.ts'
import { handleProtocolErrors, withUpgradeRejections } from './protocol-errors.ts'
import type { Service } from './run.ts'
import type { TlsIdentity } from './tls.ts'

export interface ListeningServer {
  port: number
  close(): Promise<void>
}

export interface ListenOptions {
  /** Speaks HTTPS with it. */
  tls?: TlsIdentity
  /** A client has so long for the headers of a request; three times as long for all of it. */
  headersTimeoutMs?: number
}

const MOST_SOCKET_BYTES = 4 << 20

/** Serves `app` and `/health`, with WebSocket upgrades. Port 0 takes a free one. */
export async function listen(
  service: Pick<Service, 'app' | 'health' | 'errorBody'>,
  host: string,
  port: number,
  { tls, headersTimeoutMs = 10_000 }: ListenOptions = {},
): Promise<ListeningServer> {
  service.app.get('/health', c => {
    const told = health.parse(service.health())
    return c.json(told, told.ok ? 200 : 503)
  })
  handleMethodNotAllowed(service.app, '/health', ['get'])
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MOST_SOCKET_BYTES })
  const fetch = withUpgradeRejections(service.app)
  const server = createAdaptorServer({
    fetch,
    hostname: host,
    ...(tls ? { createServer: createHttpsServer } : { createServer: createHttpServer }),
    serverOptions: {
      ...tls,
      // Whoever would upgrade in another way is answered as if he had not asked (RFC 9110, 7.8).
      shouldUpgradeCallback: ({ method, headers }: IncomingMessage) =>
        method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket',
      // Node would refuse who does not name one without a word.
      requireHostHeader: false,
      headersTimeout: headersTimeoutMs,
      requestTimeout: 3 * headersTimeoutMs,
      connectionsCheckingInterval: headersTimeoutMs / 2,
    },
    websocket: { server: sockets },
  }) as Server
  handleProtocolErrors(
    { server, sockets, fetch, hostname: host },
    service.errorBody ?? (error => error.toBody()),
  )
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate()
      server.close()
      server.closeAllConnections()
    },
  }
}
