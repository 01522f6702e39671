import { once } from 'node:events'
import type { EyrieError } from '@eyrie/contract/errors'
import type { HealthReport } from '@eyrie/contract/health'
import type { Hono } from 'hono'
import { type Environment, readEnvironment, secretVariables } from './environment.ts'
import { listen } from './listen.ts'
import { createLog, type Log } from './log.ts'
import { trustCertificate } from './tls.ts'

/** A service as its `main.ts` runs it. */
export interface Service {
  app: Hono
  /** Where it listens instead of on EYRIE_HOST. */
  host?: string
  start(): Promise<void>
  /** Ends what is under way within two seconds and leaves nothing behind. */
  stop(): Promise<void>
  /** Body of an error that the app never sees, since what came is no request; `{code, reason, value?}` by default. */
  errorBody?(error: EyrieError): object
  /** What `/health` answers; `ok` decides between 200 and 503. */
  health(): HealthReport
}

export interface Dependencies {
  environment: Environment
  log: Log
}

export type ServiceName = 'engine' | 'media' | 'management'

/** The whole of a service's `main.ts`: environment, log, start, signals, stop. */
export async function run(name: ServiceName, create: (dependencies: Dependencies) => Service): Promise<void> {
  const { environment, log } = prepare(name)
  const abandoned = endOfSupervisor()
  let { host } = environment
  const die = (error: unknown): never => {
    log.fatal({ err: error }, explain(error, host, environment.ports[name]))
    process.exit(1)
  }
  process.on('uncaughtException', die)
  if (environment.tls) trustCertificate(environment.tls)
  const service = create({ environment, log })
  host = service.host ?? host
  try {
    await service.start()
    const server = await listen(service, host, environment.ports[name], { tls: environment.tls })
    log.info({ host, port: server.port }, 'listening')
    await Promise.race([abandoned, once(process, 'SIGINT'), once(process, 'SIGTERM')])
    await Promise.all([service.stop(), server.close()])
  } catch (error) {
    await service.stop().catch(() => {})
    die(error)
  }
  process.exit(0)
}

function prepare(name: ServiceName): Dependencies {
  try {
    const environment = readEnvironment(process.env)
    // So that no process that the service starts finds them in its environment, whoever starts it.
    for (const name of secretVariables) delete process.env[name]
    return { environment, log: createLog(name, environment.logLevel) }
  } catch (error) {
    createLog(name).error((error as Error).message)
    process.exit(1)
  }
}

/** Of the one that holds the other end of the IPC channel. It may come before the service has started, and comes once. */
async function endOfSupervisor(): Promise<unknown> {
  if (process.connected) return once(process, 'disconnect')
  const isWithout = process.connected === undefined
  return isWithout ? new Promise(() => {}) : undefined
}

function explain(error: unknown, host: string, port: number): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return `port ${port} on ${host} is taken: stop what uses it, or set another port`
  if (code === 'EACCES') return `no permission to listen on ${host}:${port}: use a port above 1023`
  return message
}
