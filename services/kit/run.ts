import { once } from 'node:events'
import { flushCompileCache } from 'node:module'
import { type Environment, readEnvironment } from './environment.ts'
import { type HttpService, listen } from './listen.ts'
import { createLog, type Log } from './log.ts'
import { protectMemory } from './protection/protect-memory.ts'
import { extractSecrets } from './secret-variables.ts'
import { trustCertificate } from './tls.ts'

/** A service of Eyrie: an HTTP server with a start and an end. */
export interface Service extends HttpService {
  /** Address to listen on instead of the configured one. */
  host?: string
  start(): Promise<void>
  /** Stops the service and releases all resources within two seconds. */
  stop(): Promise<void>
}

/** What a service needs from the process that it runs in. */
export interface Dependencies {
  environment: Environment
  log: Log
}

export type ServiceName = 'engine' | 'media' | 'management' | 'scheduler'

/**
 * Runs a service until it receives SIGINT or SIGTERM or its supervisor disconnects.
 * Then exits the process.
 */
export async function run(
  name: ServiceName,
  create: (dependencies: Dependencies) => Service,
): Promise<void> {
  const { environment, log } = prepare(name)
  const { tls, trustedCertificate, trustedProxies } = environment
  const port = environment.ports[name]

  const exitWithError = (error: unknown, host: string): never => {
    log.fatal({ err: error }, describeFailure(error, host, port))
    process.exit(1)
  }
  process.on('uncaughtException', error => exitWithError(error, environment.hosts[name]))
  // The supervisor may disconnect while the service starts.
  const supervisorDisconnected = waitForSupervisorDisconnect()
  if (trustedCertificate) trustCertificate(trustedCertificate)

  const service = withSeparation(create({ environment, log }), environment)
  const host = service.host ?? environment.hosts[name]
  try {
    await service.start()
    const server = await listen(service, host, port, { tls, trustedProxies, log })
    log.info({ host, port: server.port }, 'listening')
    // By default, Node writes the cache only at exit, so that a killed process would not write it.
    flushCompileCache()

    await Promise.race([supervisorDisconnected, waitForStopSignal()])
    await Promise.all([service.stop(), server.close()])
  } catch (error) {
    // A service that has not started completely may fail to stop. The first error is the cause.
    await service.stop().catch(() => {})
    exitWithError(error, host)
  }
  process.exit(0)
}

/**
 * Resolves at the first SIGINT or SIGTERM. Further ones are ignored, because they must not end the
 * process before the service has stopped.
 */
function waitForStopSignal(): Promise<unknown> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, resolve)
  })
}

/** Adds how the supervisor has separated the services to the health report of a service. */
function withSeparation(service: Service, { separation }: Environment): Service {
  return separation ? { ...service, health: () => ({ ...service.health(), separation }) } : service
}

/**
 * Protects the memory, reads the environment and creates the log. Exits the process if a variable
 * is invalid.
 */
function prepare(name: ServiceName): Dependencies {
  try {
    const protectionFailure = protectMemory()
    // The descriptor of the secrets is closed before the service starts a process, which would
    // inherit it.
    const secrets = extractSecrets(process.env)
    const environment = readEnvironment({ ...process.env, ...secrets })
    const log = createLog(name, environment.logLevel, environment.logFormat)
    if (protectionFailure) {
      log.warn({ reason: protectionFailure }, 'failed to protect the memory of the service')
    }
    return { environment, log }
  } catch (error) {
    createLog(name).error((error as Error).message)
    process.exit(1)
  }
}

/**
 * Resolves when the supervisor has closed the IPC channel. Without a supervisor, it never resolves.
 */
async function waitForSupervisorDisconnect(): Promise<unknown> {
  if (process.connected) return once(process, 'disconnect')
  // Node defines `connected` only in processes that were started with an IPC channel.
  const hasDisconnected = process.connected === false
  return hasDisconnected ? undefined : new Promise(() => {})
}

/** Returns the log message for an error that ends the process. */
function describeFailure(error: unknown, host: string, port: number): string {
  const { code, syscall, message } = error as NodeJS.ErrnoException
  // The limit of file watchers has the same code.
  if (code === 'ENOSPC' && syscall !== 'watch') return 'the disk is full: free some space'
  if (code === 'EADDRINUSE') {
    return `port ${port} on ${host} is in use: stop the other process or set another port`
  }
  if (code === 'EACCES') return `no permission to listen on ${host}:${port}: use a port above 1023`
  return message
}
