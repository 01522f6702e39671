import { formatPathList } from '@eyrie/contract/path-list'
import type { Environment } from '@eyrie/kit'
import { secret } from './secrets.ts'

/** Variables of the caller's that services may see, besides Eyrie's own. */
const inherited =
  /^(PATH|HOME|LANG|LC_.*|TZ|TMPDIR|GST_.*|LIBVA_.*|CUDA_.*|NVIDIA_.*|LD_LIBRARY_PATH|MEDIASOUP_WORKER_BIN|OTEL_.*|NODE_COMPILE_CACHE)$/

/** Where the services are, and what the engine wants to be shown. */
export interface Started {
  ports: Record<'engine' | 'media' | 'management', number>
  urls: Environment['urls']
  engineToken: string
}

/** The environment of all services, so that each finds the others and writes to the same places. */
export const environmentOfServices = (
  environment: Environment,
  caller: NodeJS.ProcessEnv,
  { ports, urls, engineToken }: Started,
): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(caller).filter(([name]) => inherited.test(name))),
  EYRIE_DATA: environment.data,
  EYRIE_HOST: environment.host,
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
  EYRIE_MEDIA_ROOTS: formatPathList(environment.mediaRoots),
  EYRIE_OUTPUT_ROOTS: formatPathList(environment.outputRoots),
  EYRIE_RING: environment.ring,
  EYRIE_PLUGINS: formatPathList(environment.plugins),
  EYRIE_LICENSE: environment.license,
  EYRIE_LOG_LEVEL: environment.logLevel,
})
