import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { EyrieError } from '@eyrie/contract/errors'
import { type HealthReport, health } from '@eyrie/contract/health'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { WebSocketServer } from 'ws'
import { identifyClient } from './client/request-client.ts'
import { NO_TRUSTED_PROXIES, type TrustedProxies } from './client/trusted-proxies.ts'
import { CONNECTION_LIMITS, type ConnectionLimits, limitConnections } from './connection-limit.ts'
import type { Log } from './log.ts'
import { mountRoutes } from './mount-routes.ts'
import { handleProtocolErrors, withUpgradeRejections } from './protocol-errors.ts'
import type { TlsIdentity } from './tls.ts'

/** A Hono app with the functions that its server needs. */
export interface HttpService {
  app: Hono
  /**
   * Creates the body of responses to requests that fail before they reach the app;
   * `{code, reason, value?}` by default.
   */
  errorBody?(error: EyrieError): object
  /** Returns the response of `/health`. Its status is 200 if `ok`, otherwise 503. */
  health(): HealthReport
}

export interface ListeningServer {
  port: number
  /** Closes the server and all connections. */
  close(): Promise<void>
}

export interface ListenOptions {
  /** Serve HTTPS with this certificate. */
  tls?: TlsIdentity
  /**
   * Time limit in ms for the headers of a request. The limit for the complete request is
   * three times as long.
   */
  headersTimeoutMs?: number
  limits?: ConnectionLimits
  /** The proxies whose forwarded requests are accepted; none by default. */
  trustedProxies?: TrustedProxies
  log?: Pick<Log, 'warn'>
}

const MAX_WEB_SOCKET_MESSAGE_BYTES = 4 << 20

/** Starts a server for the app, its WebSockets and `/health`. Port 0 selects a free port. */
export async function listen(
  service: HttpService,
  host: string,
  port: number,
  {
    tls,
    headersTimeoutMs = 10_000,
    limits = CONNECTION_LIMITS,
    trustedProxies = NO_TRUSTED_PROXIES,
    log,
  }: ListenOptions = {},
): Promise<ListeningServer> {
  mountRoutes(service.app, [
    { method: 'get', path: '/health', handlers: [c => answerHealth(c, service)] },
  ])

  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_WEB_SOCKET_MESSAGE_BYTES })
  const fetch = withUpgradeRejections(withIdentifiedClients(service.app, trustedProxies))
  const server = createAdaptorServer({
    fetch,
    hostname: host,
    ...(tls ? { createServer: createHttpsServer } : { createServer: createHttpServer }),
    serverOptions: createServerOptions(tls, headersTimeoutMs),
    websocket: { server: sockets },
  }) as Server
  const toErrorBody = service.errorBody ?? ((error: EyrieError) => error.toBody())
  handleProtocolErrors({ server, sockets, fetch, hostname: host }, toErrorBody)

  limitConnections(server, limits, trustedProxies, client =>
    log?.warn({ client }, 'closing new connections of a client that has too many'),
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

function createServerOptions(tls: TlsIdentity | undefined, headersTimeoutMs: number) {
  return {
    // The limits for requests begin only after the handshake of TLS, which needs one of its own.
    ...(tls && { ...tls, handshakeTimeout: headersTimeoutMs }),
    shouldUpgradeCallback: isWebSocketUpgrade,
    // Node rejects requests without Host with an empty body. handleProtocolErrors
    // sends an error body.
    requireHostHeader: false,
    headersTimeout: headersTimeoutMs,
    requestTimeout: 3 * headersTimeoutMs,
    connectionsCheckingInterval: headersTimeoutMs / 2,
  }
}

/**
 * Identifies the client of every request before the app handles it, and answers with the
 * error if that fails.
 */
function withIdentifiedClients(
  app: Pick<Hono, 'fetch'>,
  trusted: TrustedProxies,
): Pick<Hono, 'fetch'> {
  return {
    fetch(request, bindings, ...rest) {
      try {
        identifyClient((bindings as HttpBindings).incoming, trusted)
      } catch (error) {
        if (!(error instanceof EyrieError)) throw error
        return Response.json(error.toBody(), { status: error.status })
      }
      return app.fetch(request, bindings, ...rest)
    },
  }
}

/**
 * Returns whether a request is handled as an upgrade. A server may ignore upgrades to other
 * protocols (RFC 9110, section 7.8).
 */
function isWebSocketUpgrade({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

function answerHealth(c: Context, service: HttpService): Response {
  const report = health.parse(service.health())
  return c.json(report, report.ok ? 200 : 503)
}
