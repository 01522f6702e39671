import { join, resolve } from 'node:path'
import { type Environment, type ServiceName, toLocalUrl } from '@eyrie/kit'
import { holdFolder } from '@eyrie/kit/held-folder'
import { listNodeOptions } from '@eyrie/kit/node-options'
import { createSharedFolder } from '@eyrie/kit/private-folder'
import { terminalNotice } from '@eyrie/kit/terminal-notice'
import { separateServices } from '../accounts/separate-services.ts'
import { describeSeparation, type ServiceSeparation } from '../accounts/service-separation.ts'
import type { ServiceLog } from '../process/service-log.ts'
import {
  type ProcessContext,
  type SupervisedProcess,
  superviseProcess,
} from '../process/supervised-process.ts'
import { createBackupRequests } from './backup-requests.ts'
import { lockDataFolder } from './data-folder.ts'
import { startDatabase } from './database.ts'
import { prepareMediaFolders } from './media-folders.ts'
import { REGISTRY_FILE } from './media-paths.ts'
import { createMediaPolicy } from './media-policy.ts'
import { watchNewCameras } from './new-cameras.ts'
import { findFreePort } from './ports.ts'
import { chooseRingPath, removeRingFolder } from './ring-path.ts'
import { createProcessContext, createServiceCommand } from './service-command.ts'
import { createServiceEnvironment, type ServiceAddresses } from './service-environment.ts'
import { getOrCreateTokens, selectSecrets, usesTls } from './service-secrets.ts'

/**
 * A service of the appliance. The supervisor, the parent process, runs each of them
 * as one child process.
 */
export interface ServiceUnit {
  name: ServiceName
  main: string
  /** Environment variables of the caller that only this service inherits. */
  variables?: readonly string[]
  /** Returns further environment variables of this service. */
  additional?: (environment: Environment) => Record<string, string>
}

/**
 * Threads for access to files, of which the default is four. A file of a network share that hangs
 * occupies one. While all are occupied, no other file is opened and no name is resolved.
 */
const FILE_THREADS = { UV_THREADPOOL_SIZE: '32' }

/** Variables with which the scheduler needs little memory (mallopt(3)). */
export const SCHEDULER_MEMORY = { MALLOC_ARENA_MAX: '2' }

const SERVICES_FOLDER = resolve(import.meta.dirname, '../../services')

/** All services, in the order of their start. */
export const SERVICE_UNITS: readonly ServiceUnit[] = [
  {
    name: 'media',
    main: resolve(SERVICES_FOLDER, 'media/main.ts'),
    additional: ({ data }) => ({
      GST_REGISTRY: join(data, REGISTRY_FILE),
      // Its libraries would read the settings of the user's desktop, which it may not.
      GSETTINGS_BACKEND: 'memory',
      ...FILE_THREADS,
    }),
  },
  {
    name: 'engine',
    main: resolve(SERVICES_FOLDER, 'engine/main.ts'),
    // Sinks write to files.
    additional: () => FILE_THREADS,
  },
  {
    name: 'management',
    main: resolve(SERVICES_FOLDER, 'management/main.ts'),
    variables: ['EYRIE_ADMIN_EMAIL', 'EYRIE_ENGINES'],
  },
  {
    name: 'scheduler',
    main: resolve(SERVICES_FOLDER, 'scheduler/main.ts'),
    // It idles most of the time: threads share memory pools instead of keeping 13 MiB
    // in pools of their own.
    additional: () => SCHEDULER_MEMORY,
  },
]

/** The services of a machine that only analyses, for a management service on another one. */
export const ENGINE_UNITS: readonly ServiceUnit[] = SERVICE_UNITS.filter(
  ({ name }) => name === 'media' || name === 'engine',
)

/**
 * Time limit for a service to stop before it is killed. It is more than a service needs on a busy
 * machine, because a database server that is killed must recover at its next start. Yet all of
 * `STOP_ORDER` must end within the 15 s that systemd grants (`docs/guide/systemd.md`).
 */
const STOP_GRACE_MS = 3_000
/** A service stops before the services that it uses: it would log that they are unreachable. */
const STOP_ORDER: readonly (readonly string[])[] = [
  ['scheduler'],
  ['engine', 'management'],
  ['media', 'database'],
]
const HEALTH_POLL_MS = 100

/** Runs the services as child processes, and restarts a service that exits. */
export interface Supervisor {
  /** Base URL of each service. */
  readonly urls: Environment['urls']
  readonly engineToken: string
  /**
   * How the media service runs, for other programs that write video. Its environment
   * contains no secrets.
   */
  readonly mediaContext: ProcessContext
  services(): readonly SupervisedProcess[]
  /** Resolves when `/health` of every service that it runs responds with status 200. */
  waitUntilHealthy(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

export interface SupervisorOptions {
  environment: Environment
  /** Environment variables of the supervisor itself. */
  caller: NodeJS.ProcessEnv
  /** The services to run; all by default. */
  units?: readonly ServiceUnit[]
  log: ServiceLog
  /** Prints text of the services that must not be logged. */
  print?: (text: string) => void
}

/**
 * Starts the services on a data folder. Throws an `Error` with the remedy if the folder
 * or a port is in use.
 */
export async function startSupervisor({
  environment,
  caller,
  units = SERVICE_UNITS,
  log,
  print = () => {},
}: SupervisorOptions): Promise<Supervisor> {
  const unlock = await lockDataFolder(environment.data)
  let releaseRing = async () => {}
  try {
    const { urls, ports } = await assignAddresses(environment, units)
    const hasManagement = units.some(({ name }) => name === 'management')
    const tokens = {
      ...getOrCreateTokens(environment),
      engineJoins: !hasManagement || caller.EYRIE_ENGINES === 'join',
    }
    const writableFolders = prepareMediaFolders(environment)
    const services = await separateServices(environment, log)
    const separation = describeSeparation(services.separation)
    const { ring, release } = await holdRingFolder(environment.data, caller, services.separation)
    releaseRing = release
    const serviceEnvironment = createServiceEnvironment(environment, caller, {
      urls,
      ports,
      ring,
      separation,
    })

    const createPolicy = () =>
      createMediaPolicy(
        { ...environment, ring },
        { variables: serviceEnvironment, writableFolders },
      )
    const createCommand = (unit: ServiceUnit) => {
      const program = {
        name: unit.name,
        args: [...listNodeOptions(unit.name), unit.main],
        environment: createUnitEnvironment(unit, environment, caller, serviceEnvironment),
        secrets: selectSecrets(unit.name, environment, tokens),
        port: ports[unit.name],
        ...(unit.name === 'media' && { createPolicy }),
      }
      return createServiceCommand(program, services, environment)
    }
    const commands = await Promise.all(units.map(createCommand))
    const backups = createBackupRequests({
      environment,
      variables: serviceEnvironment,
      separation: services.separation,
      answer: message => management?.send(message),
    })
    const running = commands.map(command =>
      superviseProcess(command, log, message => {
        if (command.name === 'management') backups.handle(message)
        const notice = terminalNotice.safeParse(message)
        if (notice.success) print(notice.data.terminal_notice)
      }),
    )
    const management = running.find(({ name }) => name === 'management')
    const database = hasManagement
      ? await startDatabase({
          services,
          environment,
          variables: serviceEnvironment,
          log,
          report: state => management?.publish(state),
        })
      : undefined

    const listProcesses = () => [...running, ...(database ? [database] : [])]

    // Media is granted the devices that exist when it starts.
    const stopWatching = watchNewCameras('/dev', camera => {
      log.info('supervisor', 'camera was plugged in; restarting media', { camera })
      running.find(({ name }) => name === 'media')?.restart(STOP_GRACE_MS)
    })

    return {
      urls,
      engineToken: tokens.engine[0]!,
      mediaContext: createProcessContext({
        role: 'media',
        services,
        data: environment.data,
        variables: serviceEnvironment,
      }),
      services: listProcesses,
      async waitUntilHealthy(signal) {
        await Promise.all(units.map(({ name }) => waitUntilOk(`${urls[name]}/health`, signal)))
      },
      async stop() {
        stopWatching()
        backups.stop()
        try {
          for (const names of STOP_ORDER) {
            const stopped = listProcesses().filter(({ name }) => names.includes(name))
            await Promise.all(stopped.map(service => service.stop(STOP_GRACE_MS)))
          }
        } finally {
          await releaseRing()
          unlock()
        }
      },
    }
  } catch (error) {
    await releaseRing()
    unlock()
    throw error
  }
}

/** Returns the variables of all services, and those of this one. */
function createUnitEnvironment(
  { variables = [], additional }: ServiceUnit,
  environment: Environment,
  caller: NodeJS.ProcessEnv,
  serviceEnvironment: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  return {
    ...serviceEnvironment,
    ...Object.fromEntries(variables.map(variable => [variable, caller[variable]])),
    ...additional?.(environment),
  }
}

/**
 * Creates the folder of the decoded frames. Services with users of their own share one of root.
 * Returns its path, and a function that removes it.
 */
async function holdRingFolder(
  data: string,
  caller: NodeJS.ProcessEnv,
  separation: ServiceSeparation,
): Promise<{ ring: string; release: () => Promise<void> }> {
  const ring = caller.EYRIE_RING || chooseRingPath(data)
  if (separation.kind !== 'users') return { ring, release: await holdFolder(ring, 'supervisor') }
  await createSharedFolder(ring, separation.accounts.media.gid)
  return {
    ring,
    release: async () => {
      if (!caller.EYRIE_RING) removeRingFolder(ring)
    },
  }
}

/** Finds a port for each service to run. The others are elsewhere. */
async function assignAddresses(
  environment: Environment,
  units: readonly ServiceUnit[],
): Promise<Pick<ServiceAddresses, 'ports' | 'urls'>> {
  const { hosts } = environment
  const ports = { ...environment.ports }
  const urls = { ...environment.urls }
  for (const { name } of units) {
    const host = hosts[name]
    const variable = `EYRIE_${name.toUpperCase()}_PORT`
    ports[name] = await findFreePort({ host, port: ports[name], variable })
    urls[name] = toLocalUrl(host, ports[name], { isSecure: usesTls(name, environment) })
  }
  return { ports, urls }
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
