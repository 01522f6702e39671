import type { Environment } from '@eyrie/kit'
import type { Console } from './console.ts'
import { environmentOfServices } from './environment.ts'
import { claim } from './lock.ts'
import { available } from './ports.ts'
import { keepRunning, type Supervised } from './process.ts'
import { secret } from './secrets.ts'
import { units } from './services.ts'

/** A service has this long to end by itself: twice this, with the kills after it, is under three seconds. */
const graceMs = 1_300

export interface Supervisor {
  /** Where each service answers. */
  readonly urls: Environment['urls']
  readonly engineToken: string
  /** What the services are told, for what runs beside them. */
  readonly serviceEnvironment: NodeJS.ProcessEnv
  services(): readonly Supervised[]
  /** Resolves when every service answers `/health` with 200. */
  healthy(signal: AbortSignal): Promise<void>
  stop(): Promise<void>
}

/** Starts the services on a data folder. Throws one clear line if the folder or a port is taken. */
export async function startSupervisor(
  environment: Environment,
  caller: NodeJS.ProcessEnv,
  log: Console,
): Promise<Supervisor> {
  const release = claim(environment.data)
  try {
    const { host } = environment
    const ports = {
      engine: await available(host, environment.ports.engine, 'EYRIE_ENGINE_PORT'),
      media: await available(host, environment.ports.media, 'EYRIE_MEDIA_PORT'),
      management: await available(host, environment.ports.management, 'EYRIE_MANAGEMENT_PORT'),
    }
    const local = (port: number) => `${environment.tls ? 'https' : 'http'}://127.0.0.1:${port}`
    const urls = {
      engine: local(ports.engine),
      media: local(ports.media),
      management: local(ports.management),
    }
    const engineToken = environment.engineTokens[0] ?? secret(environment.data, 'engine-token')
    const serviceEnvironment = environmentOfServices(environment, caller, { ports, urls, engineToken })
    const running = units.map(({ name, main, variables = [] }) => {
      const own = Object.fromEntries(variables.map(variable => [variable, caller[variable]]))
      return keepRunning({ name, args: [main], environment: { ...serviceEnvironment, ...own } }, log)
    })
    return {
      urls,
      engineToken,
      serviceEnvironment,
      services: () => running,
      healthy: signal => allHealthy(Object.values(urls), signal),
      async stop() {
        // Media goes last: the others would tell everybody that it is gone.
        const [media, ...others] = running
        await Promise.all(others.map(service => service.stop(graceMs)))
        await media?.stop(graceMs)
        release()
      },
    }
  } catch (error) {
    release()
    throw error
  }
}

async function allHealthy(urls: string[], signal: AbortSignal): Promise<void> {
  await Promise.all(urls.map(url => answers(`${url}/health`, signal)))
}

async function answers(url: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const response = await fetch(url, { signal }).catch(() => undefined)
    if (response?.ok) return
    await new Promise(resolve => setTimeout(resolve, 100))
  }
}
