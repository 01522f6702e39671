import type { Isolation } from '@eyrie/contract/health'
import { formatPathList } from '@eyrie/contract/path-list'
import type { Environment } from '@eyrie/kit'

/** Environment variables that the services inherit from the caller of the supervisor. */
const INHERITED_VARIABLES = [
  // The system.
  /^(PATH|HOME|LANG|LC_.*|TZ|TMPDIR|LD_LIBRARY_PATH)$/,
  // Decoders and graphics processors.
  /^(GST_.*|LIBVA_.*|CUDA_.*|NVIDIA_.*)$/,
  // Traces and Node.
  /^(OTEL_.*|NODE_COMPILE_CACHE)$/,
  // Options of Eyrie that are passed on unchanged.
  /^(MEDIASOUP_WORKER_BIN|EYRIE_INSPECT)$/,
]

/** The addresses of the services, and what else the supervisor has decided for them. */
export interface ServiceAddresses {
  ports: Environment['ports']
  urls: Environment['urls']
  /** Folder of the decoded frames, which media and engine share. */
  ring: string
  /** How well the services are isolated from each other. Their `/health` reports it. */
  separation: Isolation
}

/**
 * Creates the environment variables with which the supervisor starts the services. All services
 * share them: addresses and folders. Secrets are not among them: see `selectSecrets`.
 */
export const createServiceEnvironment = (
  environment: Environment,
  caller: NodeJS.ProcessEnv,
  { ports, urls, ring, separation }: ServiceAddresses,
): NodeJS.ProcessEnv => ({
  ...selectInherited(caller),

  EYRIE_ENGINE_HOST: environment.hosts.engine,
  EYRIE_ENGINE_PORT: String(ports.engine),
  EYRIE_ENGINE_URL: urls.engine,
  EYRIE_MEDIA_HOST: environment.hosts.media,
  EYRIE_MEDIA_PORT: String(ports.media),
  EYRIE_MEDIA_URL: urls.media,
  EYRIE_MANAGEMENT_HOST: environment.hosts.management,
  EYRIE_MANAGEMENT_PORT: String(ports.management),
  EYRIE_MANAGEMENT_URL: urls.management,
  // No other service connects to the scheduler, so that it needs no URL.
  EYRIE_SCHEDULER_HOST: environment.hosts.scheduler,
  EYRIE_SCHEDULER_PORT: String(ports.scheduler),

  EYRIE_DATA: environment.data,
  EYRIE_RING: ring,
  EYRIE_MEDIA_ROOTS: formatPathList(environment.mediaRoots),
  EYRIE_OUTPUT_ROOTS: formatPathList(environment.outputRoots),
  EYRIE_PLUGINS: formatPathList(environment.plugins),

  EYRIE_EGRESS_ALLOW: caller.EYRIE_EGRESS_ALLOW,
  EYRIE_TRUSTED_PROXIES: caller.EYRIE_TRUSTED_PROXIES,
  EYRIE_SEPARATION: JSON.stringify(separation),
  EYRIE_LICENSE: environment.license,
  EYRIE_LOG_LEVEL: environment.logLevel,
})

const selectInherited = (caller: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(caller).filter(([name]) =>
      INHERITED_VARIABLES.some(pattern => pattern.test(name)),
    ),
  )
