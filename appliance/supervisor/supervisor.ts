import { resolve } from 'node:path'
import type { Environment } from '@eyrie/kit'
import type { ServiceLog } from '../process/service-log.ts'
import { type SupervisedProcess, superviseProcess } from '../process/supervised-process.ts'
import { getOrCreateSecret, lockDataFolder } from './data-folder.ts'
import { findFreePort } from './ports.ts'
import { createServiceEnvironment } from './service-environment.ts'

/** A service of the appliance, started as one process. */
export interface ServiceUnit {
  name: 'media' | 'engine' | 'management'
  main: string
  /** Variables of the caller that only this service receives. */
  variables?: readonly string[]
}

const services = resolve(import.meta.dirname, '../../services')

/** The services in the order in which they are started. */
export const serviceUnits: readonly ServiceUnit[] = [
  { name: 'media', main: resolve(services, 'media/main.ts') },
  { name: 'engine', main: resolve(services, 'engine/main.ts') },
  {
    name: 'management',
    main: resolve(services, 'management/main.ts'),
    variables: ['DATABASE_URL', 'EYRIE_ADMIN_EMAIL', 'EYRIE_ADMIN_PASSWORD'],
  },
]

/** How long a service may take to stop. All services together, including kills, stop in less than three seconds. */
const STOP_GRACE_MS = 1_300
const HEALTH_POLL_MS = 100

export interface Supervisor {
  /** Base URL of each service. */
  readonly urls: Environment['urls']
  readonly engineToken: string
  /** The environment of the services, for other processes of the appliance. */
  readonly serviceEnvironment: NodeJS.ProcessEnv
  services(): readonly SupervisedProcess[]
  /** Resolves when every service answers `/health` with 200. */
  waitUntilHealthy(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

/** Starts the services on a data folder. Throws an `Error` with the remedy if the folder or a port is in use. */
export async function startSupervisor(
  environment: Environment,
  caller: NodeJS.ProcessEnv,
  log: ServiceLog,
): Promise<Supervisor> {
  const unlock = lockDataFolder(environment.data)
  try {
    const { host } = environment
    const ports = {
      engine: await findFreePort(host, environment.ports.engine, 'EYRIE_ENGINE_PORT'),
      media: await findFreePort(host, environment.ports.media, 'EYRIE_MEDIA_PORT'),
      management: await findFreePort(host, environment.ports.management, 'EYRIE_MANAGEMENT_PORT'),
    }
    const toUrl = (port: number) => `${environment.tls ? 'https' : 'http'}://127.0.0.1:${port}`
    const urls = {
      engine: toUrl(ports.engine),
      media: toUrl(ports.media),
      management: toUrl(ports.management),
    }
    const engineToken = environment.engineTokens[0] ?? getOrCreateSecret(environment.data, 'engine-token')
    const serviceEnvironment = createServiceEnvironment(environment, caller, { ports, urls, engineToken })
    const running = serviceUnits.map(({ name, main, variables = [] }) => {
      const own = Object.fromEntries(variables.map(variable => [variable, caller[variable]]))
      return superviseProcess({ name, args: [main], environment: { ...serviceEnvironment, ...own } }, log)
    })
    return {
      urls,
      engineToken,
      serviceEnvironment,
      services: () => running,
      async waitUntilHealthy(signal) {
        await Promise.all(Object.values(urls).map(url => waitUntilOk(`${url}/health`, signal)))
      },
      async stop() {
        // Media stops last: the other services would report its absence.
        const [media, ...others] = running
        await Promise.all(others.map(service => service.stop(STOP_GRACE_MS)))
        await media?.stop(STOP_GRACE_MS)
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

async function waitUntilOk(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const response = await fetch(url, { signal }).catch(() => undefined)
    if (response?.ok) return
    await new Promise(resolve => setTimeout(resolve, HEALTH_POLL_MS))
  }
}
