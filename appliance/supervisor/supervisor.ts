import { resolve } from 'node:path'
import { type Environment, toLocalUrl } from '@eyrie/kit'
import { terminalNotice } from '@eyrie/kit/terminal-notice'
import type { ServiceLog } from '../process/service-log.ts'
import { type SupervisedProcess, superviseProcess } from '../process/supervised-process.ts'
import { getOrCreateSecret, lockDataFolder } from './data-folder.ts'
import { findFreePort } from './ports.ts'
import { chooseRingPath } from './ring-path.ts'
import { createServiceEnvironment, type ServiceAddresses } from './service-environment.ts'

/** A service of the appliance. The supervisor, the parent process, runs each of them as one child process. */
export interface ServiceUnit {
  name: 'media' | 'engine' | 'management'
  main: string
  /** Environment variables of the caller that only this service inherits. */
  variables?: readonly string[]
}

const SERVICES_FOLDER = resolve(import.meta.dirname, '../../services')

/** All services, in the order of their start. */
export const SERVICE_UNITS: readonly ServiceUnit[] = [
  { name: 'media', main: resolve(SERVICES_FOLDER, 'media/main.ts') },
  { name: 'engine', main: resolve(SERVICES_FOLDER, 'engine/main.ts') },
  {
    name: 'management',
    main: resolve(SERVICES_FOLDER, 'management/main.ts'),
    variables: ['DATABASE_URL', 'EYRIE_ADMIN_EMAIL', 'EYRIE_ADMIN_PASSWORD'],
  },
]

/** Time limit for a service to stop before it is killed. The whole appliance stops in less than three seconds. */
const STOP_GRACE_MS = 1_300
const HEALTH_POLL_MS = 100

/** Runs the services as child processes, and restarts a service that exits. */
export interface Supervisor {
  /** Base URL of each service. */
  readonly urls: Environment['urls']
  readonly engineToken: string
  /** The environment that all services share, for other processes of the appliance. */
  readonly serviceEnvironment: NodeJS.ProcessEnv
  services(): readonly SupervisedProcess[]
  /** Resolves when `/health` of every service responds with status 200. */
  waitUntilHealthy(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts the services on a data folder. Throws an `Error` with the remedy if the folder or a port is in use. `print` prints text
 * of the services that must not be logged.
 */
export async function startSupervisor(
  environment: Environment,
  caller: NodeJS.ProcessEnv,
  log: ServiceLog,
  print: (text: string) => void = () => {},
): Promise<Supervisor> {
  const unlock = lockDataFolder(environment.data)
  try {
    const addresses = await assignAddresses(environment, caller)
    const { urls, engineToken } = addresses
    const serviceEnvironment = createServiceEnvironment(environment, caller, addresses)
    const running = SERVICE_UNITS.map(({ name, main, variables = [] }) => {
      const ownVariables = Object.fromEntries(variables.map(variable => [variable, caller[variable]]))
      const command = { name, args: [main], environment: { ...serviceEnvironment, ...ownVariables } }
      return superviseProcess(command, log, message => {
        const notice = terminalNotice.safeParse(message)
        if (notice.success) print(notice.data.terminal_notice)
      })
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
        // The media service stops last, because the other services would log that it is unreachable.
        const [media, ...others] = running
        try {
          await Promise.all(others.map(service => service.stop(STOP_GRACE_MS)))
          await media?.stop(STOP_GRACE_MS)
        } finally {
          unlock()
        }
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}

/** Finds a port for each service, the token for the API of the engine, and the folder of the decoded frames. */
async function assignAddresses(
  environment: Environment,
  caller: NodeJS.ProcessEnv,
): Promise<ServiceAddresses> {
  const { hosts } = environment
  const ports = {
    engine: await findFreePort(hosts.engine, environment.ports.engine, 'EYRIE_ENGINE_PORT'),
    media: await findFreePort(hosts.media, environment.ports.media, 'EYRIE_MEDIA_PORT'),
    management: await findFreePort(hosts.management, environment.ports.management, 'EYRIE_MANAGEMENT_PORT'),
  }
  const urls = {
    engine: toLocalUrl(hosts.engine, ports.engine, environment),
    media: toLocalUrl(hosts.media, ports.media, environment),
    management: toLocalUrl(hosts.management, ports.management, environment),
  }
  const engineToken = environment.engineTokens[0] ?? getOrCreateSecret(environment.data, 'engine-token')
  const ring = caller.EYRIE_RING || chooseRingPath(environment.data)
  return { ports, urls, engineToken, ring }
}

/** Polls a URL until it responds with a status of success. */
async function waitUntilOk(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const response = await fetch(url, { signal }).catch(() => undefined)
    if (response?.ok) return
    await new Promise(resolve => setTimeout(resolve, HEALTH_POLL_MS))
  }
}
