import type { Isolation } from '@eyrie/contract/health'
import { formatPathList } from '@eyrie/contract/path-list'
import type { Environment } from '@eyrie/kit'

/** Environment variables that the services inherit from the caller. */
const INHERITED_VARIABLES =
  /^(PATH|HOME|LANG|LC_.*|TZ|TMPDIR|GST_.*|LIBVA_.*|CUDA_.*|NVIDIA_.*|LD_LIBRARY_PATH|MEDIASOUP_WORKER_BIN|OTEL_.*|NODE_COMPILE_CACHE|EYRIE_INSPECT)$/

/** The addresses of the services, and the folder that media and engine share. */
export interface ServiceAddresses {
  ports: Environment['ports']
  urls: Environment['urls']
  /** Folder of the decoded frames. */
  ring: string
  /** How the services are separated, for their `/health`. */
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
  ...Object.fromEntries(Object.entries(caller).filter(([name]) => INHERITED_VARIABLES.test(name))),
  EYRIE_DATA: environment.data,
  EYRIE_ENGINE_HOST: environment.hosts.engine,
  EYRIE_MEDIA_HOST: environment.hosts.media,
  EYRIE_MANAGEMENT_HOST: environment.hosts.management,
  EYRIE_SCHEDULER_HOST: environment.hosts.scheduler,
  EYRIE_ENGINE_PORT: String(ports.engine),
  EYRIE_MEDIA_PORT: String(ports.media),
  EYRIE_MANAGEMENT_PORT: String(ports.management),
  EYRIE_SCHEDULER_PORT: String(ports.scheduler),
  EYRIE_ENGINE_URL: urls.engine,
  EYRIE_MEDIA_URL: urls.media,
  EYRIE_MANAGEMENT_URL: urls.management,
  EYRIE_EGRESS_ALLOW: caller.EYRIE_EGRESS_ALLOW,
  EYRIE_TRUSTED_PROXIES: caller.EYRIE_TRUSTED_PROXIES,
  EYRIE_MEDIA_ROOTS: formatPathList(environment.mediaRoots),
  EYRIE_OUTPUT_ROOTS: formatPathList(environment.outputRoots),
  EYRIE_RING: ring,
  EYRIE_PLUGINS: formatPathList(environment.plugins),
  EYRIE_SEPARATION: JSON.stringify(separation),
  EYRIE_LICENSE: environment.license,
  EYRIE_LOG_LEVEL: environment.logLevel,
})
