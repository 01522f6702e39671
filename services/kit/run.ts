import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import type { Hono } from 'hono'
import { WebSocketServer } from 'ws'
import { type Environment, readEnvironment } from './environment.ts'
import { createLog, type Log } from './log.ts'

/** A service as its `main.ts` runs it. */
export interface Service {
  app: Hono
  /** Where it listens instead of on EYRIE_HOST. */
  host?: string
  start(): Promise<void>
  /** Ends what is under way within two seconds and leaves nothing behind. */
  stop(): Promise<void>
  /** What `/health` answers; `ok` decides between 200 and 503. */
  health(): { ok: boolean } & Record<string, unknown>
}

export interface Dependencies {
  environment: Environment
  log: Log
}

export interface Listening {
  port: number
  close(): Promise<void>
}

export type ServiceName = 'engine' | 'media' | 'management'

/** The whole of a service's `main.ts`: environment, log, start, signals, stop. */
export async function run(name: ServiceName, create: (dependencies: Dependencies) => Service): Promise<void> {
  const { environment, log } = prepare(name)
  let { host } = environment
  const die = (error: unknown): never => {
    log.fatal({ err: error }, explain(error, host, environment.ports[name]))
    process.exit(1)
  }
  process.on('uncaughtException', die)
  const service = create({ environment, log })
  host = service.host ?? host
  try {
    await service.start()
    const server = await listen(service, host, environment.ports[name])
    log.info({ host, port: server.port }, 'listening')
    await askedToStop()
    await Promise.all([service.stop(), server.close()])
  } catch (error) {
    await service.stop().catch(() => {})
    die(error)
  }
  process.exit(0)
}

/** Serves `app` and `/health`, with WebSocket upgrades. Port 0 takes a free one. */
export async function listen(
  service: Pick<Service, 'app' | 'health'>,
  host: string,
  port: number,
): Promise<Listening> {
  service.app.get('/health', c => {
    const health = service.health()
    return c.json(health, health.ok ? 200 : 503)
  })
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 4 << 20 })
  const server = serve({
    fetch: service.app.fetch,
    hostname: host,
    port,
    websocket: { server: sockets },
  }) as Server
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

function prepare(name: ServiceName): Dependencies {
  try {
    const environment = readEnvironment(process.env)
    return { environment, log: createLog(name, environment.logLevel) }
  } catch (error) {
    createLog(name).error((error as Error).message)
    process.exit(1)
  }
}

/** A signal, or the end of the supervisor that holds the other end of the IPC channel. */
function askedToStop(): Promise<unknown> {
  const asked = ['SIGINT', 'SIGTERM', ...(process.connected ? ['disconnect'] : [])]
  return Promise.race(asked.map(event => once(process, event)))
}

function explain(error: unknown, host: string, port: number): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is taken: stop what uses it, or set another port`
  if (code === 'EACCES') return `no permission to listen on ${host}:${port}: use a port above 1023`
  return message
}
