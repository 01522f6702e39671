import type { Environment } from '@eyrie/kit'
import type { Console } from './console.ts'
import { claim } from './lock.ts'
import { available } from './ports.ts'
import { keepRunning, type Supervised } from './process.ts'
import { secret } from './secrets.ts'
import { units } from './services.ts'

/** A service has this long to end by itself: twice this, with the kills after it, is under three seconds. */
const graceMs = 1_300

/** Variables of the caller's that services may see, besides Eyrie's own. */
const inherited =
  /^(PATH|HOME|LANG|LC_.*|TZ|TMPDIR|GST_.*|LIBVA_.*|CUDA_.*|NVIDIA_.*|LD_LIBRARY_PATH|MEDIASOUP_WORKER_BIN|OTEL_.*)$/

export interface Supervisor {
  /** Where each service answers. */
  readonly urls: Environment['urls']
  readonly engineToken: string
  /** Starts a task beside the services, with their environment; it's restarted until it succeeds. */
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
    const serviceEnvironment: NodeJS.ProcessEnv = {
      ...Object.fromEntries(Object.entries(caller).filter(([name]) => inherited.test(name))),
      EYRIE_DATA: environment.data,
      EYRIE_HOST: host,
      EYRIE_ENGINE_PORT: String(ports.engine),
      EYRIE_MEDIA_PORT: String(ports.media),
      EYRIE_MANAGEMENT_PORT: String(ports.management),
      EYRIE_ENGINE_URL: urls.engine,
      EYRIE_MEDIA_URL: urls.media,
      EYRIE_MANAGEMENT_URL: urls.management,
      EYRIE_ENGINE_TOKENS: environment.engineTokens.join(',') || engineToken,
      EYRIE_INTERNAL_TOKEN: environment.internalToken ?? secret(environment.data, 'internal-token'),
      EYRIE_TLS_CERT: caller.EYRIE_TLS_CERT,
      EYRIE_TLS_KEY: caller.EYRIE_TLS_KEY,
      EYRIE_MEDIA_ROOTS: environment.mediaRoots.join(':'),
      EYRIE_OUTPUT_ROOTS: environment.outputRoots.join(':'),
      EYRIE_RING: environment.ring,
      EYRIE_PLUGINS: environment.plugins.join(':'),
      EYRIE_LICENSE: environment.license,
      EYRIE_LOG_LEVEL: environment.logLevel,
    }
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
