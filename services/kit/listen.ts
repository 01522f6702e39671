import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { EyrieError } from '@eyrie/contract/errors'
import { type HealthReport, health } from '@eyrie/contract/health'
import { createAdaptorServer } from '@hono/node-server'
import type { Hono } from 'hono'
import { WebSocketServer } from 'ws'
import { handleMethodNotAllowed } from './http-errors.ts'
import { handleProtocolErrors, withUpgradeRejections } from './protocol-errors.ts'
import type { TlsIdentity } from './tls.ts'

/** An app that can be served. */
export interface HttpService {
  app: Hono
  /** Body of errors that occur before the app is called. Defaults to `{code, reason, value?}`. */
  errorBody?(error: EyrieError): object
  /** Response of `/health`. The status is 200 if `ok`, otherwise 503. */
  health(): HealthReport
}

export interface ListeningServer {
  port: number
  close(): Promise<void>
}

export interface ListenOptions {
  /** Serve HTTPS with this certificate. */
  tls?: TlsIdentity
  /** Timeout for the headers of a request. The complete request may take three times as long. */
  headersTimeoutMs?: number
}

const MAX_WEB_SOCKET_MESSAGE_BYTES = 4 << 20

/** Serves the app, its WebSockets and `/health`. Port 0 selects a free port. */
export async function listen(
  service: HttpService,
  host: string,
  port: number,
  { tls, headersTimeoutMs = 10_000 }: ListenOptions = {},
): Promise<ListeningServer> {
  service.app.get('/health', c => {
    const report = health.parse(service.health())
    return c.json(report, report.ok ? 200 : 503)
  })
  handleMethodNotAllowed(service.app, '/health', ['get'])
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_WEB_SOCKET_MESSAGE_BYTES })
  const fetch = withUpgradeRejections(service.app)
  const server = createAdaptorServer({
    fetch,
    hostname: host,
    ...(tls ? { createServer: createHttpsServer } : { createServer: createHttpServer }),
    serverOptions: {
      ...tls,
      // Upgrades to other protocols are ignored (RFC 9110, 7.8).
      shouldUpgradeCallback: ({ method, headers }: IncomingMessage) =>
        method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket',
      // Node would reject requests without Host with an empty body; see handleProtocolErrors.
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
