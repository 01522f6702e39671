import { once } from 'node:events'
import { type Environment, readEnvironment, secretVariables } from './environment.ts'
import { type HttpService, listen } from './listen.ts'
import { createLog, type Log } from './log.ts'
import { trustCertificate } from './tls.ts'

/** A service that `run` can run. */
export interface Service extends HttpService {
  /** Address to listen on instead of EYRIE_HOST. */
  host?: string
  start(): Promise<void>
  /** Stops the service and releases all resources within two seconds. */
  stop(): Promise<void>
}

export interface Dependencies {
  environment: Environment
  log: Log
}

export type ServiceName = 'engine' | 'media' | 'management'

/** Runs a service until it is signalled or its supervisor disconnects: the complete `main.ts` of a service. */
export async function run(name: ServiceName, create: (dependencies: Dependencies) => Service): Promise<void> {
  const { environment, log } = prepare(name)
  const supervisorDisconnected = waitForSupervisorDisconnect()
  let { host } = environment
  const die = (error: unknown): never => {
    log.fatal({ err: error }, describeFailure(error, host, environment.ports[name]))
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
    await Promise.race([supervisorDisconnected, once(process, 'SIGINT'), once(process, 'SIGTERM')])
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
    // Child processes of the service must not inherit secrets.
    for (const variable of secretVariables) delete process.env[variable]
    return { environment, log: createLog(name, environment.logLevel) }
  } catch (error) {
    createLog(name).error((error as Error).message)
    process.exit(1)
  }
}

/** Resolves when the supervisor closes the IPC channel, which may already have happened. Never without a supervisor. */
async function waitForSupervisorDisconnect(): Promise<unknown> {
  if (process.connected) return once(process, 'disconnect')
  const hasSupervisor = process.connected !== undefined
  return hasSupervisor ? undefined : new Promise(() => {})
}

function describeFailure(error: unknown, host: string, port: number): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return `port ${port} on ${host} is in use: stop the other process or set another port`
  if (code === 'EACCES') return `no permission to listen on ${host}:${port}: use a port above 1023`
  return message
}
