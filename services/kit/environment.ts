import { createHmac } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { isIPv6 } from 'node:net'
import { resolve } from 'node:path'
import { type Isolation, isolation } from '@eyrie/contract/health'
import { email } from '@eyrie/contract/management/user'
import { tryParseJson } from '@eyrie/contract/parse'
import { parsePathList } from '@eyrie/contract/path-list'
import { z } from 'zod'
import { digestToken } from './access-control.ts'
import {
  NO_TRUSTED_PROXIES,
  type TrustedProxies,
  trustedProxies,
} from './client/trusted-proxies.ts'
import { type EgressException, egressExceptions } from './egress/egress-rules.ts'
import { readOwnIsolation } from './launcher/isolation.ts'
import type { LogFormat } from './log.ts'
import { readTlsIdentity, type TlsIdentity } from './tls.ts'
import type { TraceSettings } from './tracer.ts'

const port = (defaultPort: number) => z.coerce.number().int().min(0).max(65535).default(defaultPort)
const folders = z.string().transform(list => parsePathList(list).map(folder => resolve(folder)))

/**
 * The environment variables that configure the services. `readEnvironment` converts them
 * to an `Environment`.
 */
const environmentVariables = z.object({
  EYRIE_DATA: z
    .string()
    .default('./.eyrie')
    .transform(folder => resolve(folder)),
  EYRIE_HOST: z.string().default('127.0.0.1'),
  EYRIE_ENGINE_HOST: z.string().optional(),
  EYRIE_MEDIA_HOST: z.string().optional(),
  EYRIE_MANAGEMENT_HOST: z.string().optional(),
  EYRIE_SCHEDULER_HOST: z.string().optional(),
  EYRIE_ENGINE_PORT: port(8100),
  EYRIE_MEDIA_PORT: port(8200),
  EYRIE_MANAGEMENT_PORT: port(8080),
  EYRIE_SCHEDULER_PORT: port(8300),

  EYRIE_ENGINE_TOKENS: z.string().optional(),
  EYRIE_ENGINE_TOKENS_FILE: z.string().optional(),
  EYRIE_ENGINE_TOKEN_DIGESTS: z.string().optional(),
  EYRIE_PLUGIN_TOKENS: z.string().optional(),
  EYRIE_PLUGIN_TOKENS_FILE: z.string().optional(),
  EYRIE_INTERNAL_TOKEN: z.string().optional(),
  EYRIE_INTERNAL_TOKEN_FILE: z.string().optional(),
  EYRIE_SCHEDULER_TOKEN: z.string().optional(),
  EYRIE_SCHEDULER_TOKEN_FILE: z.string().optional(),
  EYRIE_JOIN_TOKEN: z.string().optional(),
  EYRIE_JOIN_TOKEN_FILE: z.string().optional(),
  EYRIE_ENGINE_URL: z.url().optional(),
  EYRIE_MEDIA_URL: z.url().optional(),
  EYRIE_MANAGEMENT_URL: z.url().optional(),
  EYRIE_TLS_CERT: z.string().optional(),
  EYRIE_TLS_KEY: z.string().optional(),
  EYRIE_TLS_CERT_PEM: z.string().optional(),
  EYRIE_TLS_KEY_PEM: z.string().optional(),
  EYRIE_EGRESS_ALLOW: egressExceptions.default([]),
  EYRIE_TRUSTED_PROXIES: trustedProxies.default(NO_TRUSTED_PROXIES),

  EYRIE_MEDIA_ROOTS: folders.optional(),
  EYRIE_OUTPUT_ROOTS: folders.optional(),
  EYRIE_RING: z.string().optional(),
  EYRIE_PLUGINS: folders.optional(),
  EYRIE_INSPECT: z
    .string()
    .regex(/^[^:]+:\d{1,5}$/, 'expected the name of a plugin and a port, such as crowd:9229')
    .transform(text => ({ plugin: text.split(':')[0]!, port: Number(text.split(':')[1]) }))
    .optional(),

  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'expected postgres://user@host/database' })
    .optional(),
  EYRIE_ADMIN_EMAIL: email.optional(),
  EYRIE_ADMIN_PASSWORD: z.string().optional(),
  EYRIE_DATABASE_SOCKET: z.string().optional(),
  EYRIE_DATABASE_CLIENT: z.string().optional(),
  EYRIE_SEPARATION: z
    .string()
    .transform(text => tryParseJson(text))
    .pipe(isolation)
    .optional(),
  EYRIE_ENGINES: z.enum(['join']).optional(),
  EYRIE_LICENSE: z.string().default('none'),
  MEDIASOUP_WORKER_BIN: z.string().optional(),
  EYRIE_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  EYRIE_LOG_FORMAT: z.enum(['json', 'text']).default('json'),

  // Names, units and defaults are those of the OpenTelemetry specification.
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_HEADERS: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: z.string().optional(),
  OTEL_EXPORTER_OTLP_TIMEOUT: z.coerce.number().int().min(1).default(10_000),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  OTEL_BSP_SCHEDULE_DELAY: z.coerce.number().int().min(1).default(5000),
})

type Variables = z.output<typeof environmentVariables>

/** The validated environment variables with all defaults applied. */
export interface Environment {
  data: string
  /** Address on which each service listens. */
  hosts: { engine: string; media: string; management: string; scheduler: string }
  ports: { engine: number; media: number; management: number; scheduler: number }
  urls: { engine: string; media: string; management: string; scheduler: string }
  /**
   * Bearer tokens that the engine API accepts. Without tokens, the engine serves only
   * the loopback interface.
   */
  engineTokens: string[]
  /** Digests of `engineTokens`, for a service that verifies these tokens but never sends them. */
  engineTokenDigests: string[]
  /**
   * Bearer tokens that may install and remove plugins. If there are none, the tokens
   * of the engine API may.
   */
  pluginTokens: string[]
  /**
   * Token with which the services authenticate to each other. Without a token, they serve only
   * the loopback interface.
   */
  internalToken: string | undefined
  /** Token with which the scheduler authenticates to management, and with no other rights. */
  schedulerToken: string | undefined
  /** Token with which engines register themselves with management. */
  joinToken: string | undefined
  /** Whether all engines join by the token, so that none is registered by its address. */
  allEnginesJoin: boolean
  /** Certificate for HTTPS. Without a certificate, the services use HTTP. */
  tls: TlsIdentity | undefined
  /** Certificate in PEM format that the services trust when they connect to each other. */
  trustedCertificate: string | undefined
  /**
   * Addresses to which the services may connect although the rules for outgoing
   * connections deny it.
   */
  egressExceptions: EgressException[]
  /**
   * Reverse proxies whose headers about their clients are believed. Requests through other
   * proxies are refused.
   */
  trustedProxies: TrustedProxies
  /** Folders from which sources may play files. */
  mediaRoots: string[]
  /** Folders to which sinks may write files. */
  outputRoots: string[]
  /**
   * Folder on tmpfs that the media service and the engine share. It holds the
   * buffers of decoded frames.
   */
  ring: string
  /** Folders that are searched for plugins. */
  plugins: string[]
  /**
   * The plugin to whose development versions debuggers can connect, and the port on the loopback.
   */
  inspect: { plugin: string; port: number } | undefined
  license: string
  /**
   * URL of an external Postgres. Without a URL, the management service runs its own
   * Postgres in the data folder.
   */
  databaseUrl: string | undefined
  /** Folder of the socket of the embedded Postgres, if the supervisor runs it. */
  databaseSocket: string | undefined
  /** User of the machine that connects to the embedded Postgres, for the process that runs it. */
  databaseClient: string | undefined
  /** How the supervisor has separated the services. Undefined without a supervisor. */
  separation: Isolation | undefined
  /** Credentials of the initial administrator. Missing values are generated at the first start. */
  administrator: { email: string | undefined; password: string | undefined }
  /** Path of the mediasoup worker. The default is the installed version. */
  webrtcWorker: string | undefined
  /** The boundaries around this process. */
  isolation: Isolation
  logLevel: string
  logFormat: LogFormat
  /** Undefined if tracing is disabled. */
  tracing: TraceSettings | undefined
}

/**
 * Parses the environment variables. Throws an `Error` that names the invalid variable
 * and the expected value.
 */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  const variables = parseVariables(env)
  const data = variables.EYRIE_DATA
  const hosts = {
    engine: variables.EYRIE_ENGINE_HOST ?? variables.EYRIE_HOST,
    media: variables.EYRIE_MEDIA_HOST ?? variables.EYRIE_HOST,
    management: variables.EYRIE_MANAGEMENT_HOST ?? variables.EYRIE_HOST,
    scheduler: variables.EYRIE_SCHEDULER_HOST ?? variables.EYRIE_HOST,
  }
  const ports = {
    engine: variables.EYRIE_ENGINE_PORT,
    media: variables.EYRIE_MEDIA_PORT,
    management: variables.EYRIE_MANAGEMENT_PORT,
    scheduler: variables.EYRIE_SCHEDULER_PORT,
  }

  const tls = readTls(variables)
  const toUrl = (service: keyof typeof ports) =>
    toLocalUrl(hosts[service], ports[service], { isSecure: tls !== undefined })

  const engineTokens = parseTokens(
    readSecret(variables.EYRIE_ENGINE_TOKENS, variables.EYRIE_ENGINE_TOKENS_FILE) ?? '',
  )
  const pluginTokens = parseTokens(
    readSecret(variables.EYRIE_PLUGIN_TOKENS, variables.EYRIE_PLUGIN_TOKENS_FILE) ?? '',
  )
  const digests = parseTokens(variables.EYRIE_ENGINE_TOKEN_DIGESTS ?? '')
  const internalToken = readSecret(
    variables.EYRIE_INTERNAL_TOKEN,
    variables.EYRIE_INTERNAL_TOKEN_FILE,
  )
  const joinToken = readSecret(variables.EYRIE_JOIN_TOKEN, variables.EYRIE_JOIN_TOKEN_FILE)
  // The engine of a supervisor does not join: there, the token is for further ones.
  const isSupervised = variables.EYRIE_SEPARATION !== undefined

  return {
    data,
    hosts,
    ports,
    urls: {
      engine: variables.EYRIE_ENGINE_URL ?? toUrl('engine'),
      media: variables.EYRIE_MEDIA_URL ?? toUrl('media'),
      management: variables.EYRIE_MANAGEMENT_URL ?? toUrl('management'),
      // No other service calls it, so its address is not configured.
      scheduler: toUrl('scheduler'),
    },
    engineTokens,
    engineTokenDigests: [...digests, ...engineTokens.map(digestToken)],
    pluginTokens,
    internalToken,
    schedulerToken: readSecret(
      variables.EYRIE_SCHEDULER_TOKEN,
      variables.EYRIE_SCHEDULER_TOKEN_FILE,
    ),
    joinToken,
    allEnginesJoin:
      joinToken !== undefined && (variables.EYRIE_ENGINES === 'join' || !isSupervised),
    tls,
    trustedCertificate: tls?.cert ?? variables.EYRIE_TLS_CERT_PEM,
    egressExceptions: variables.EYRIE_EGRESS_ALLOW,
    trustedProxies: variables.EYRIE_TRUSTED_PROXIES,
    mediaRoots: variables.EYRIE_MEDIA_ROOTS ?? [resolve(data, 'media')],
    outputRoots: variables.EYRIE_OUTPUT_ROOTS ?? [resolve(data, 'output')],
    ring: variables.EYRIE_RING ?? getDefaultRingFolder(data, internalToken),
    plugins: variables.EYRIE_PLUGINS ?? [resolve(import.meta.dirname, '../../plugins')],
    inspect: variables.EYRIE_INSPECT,
    license: variables.EYRIE_LICENSE,
    databaseUrl: variables.DATABASE_URL,
    databaseSocket: variables.EYRIE_DATABASE_SOCKET,
    databaseClient: variables.EYRIE_DATABASE_CLIENT,
    separation: variables.EYRIE_SEPARATION,
    administrator: { email: variables.EYRIE_ADMIN_EMAIL, password: variables.EYRIE_ADMIN_PASSWORD },
    webrtcWorker: variables.MEDIASOUP_WORKER_BIN,
    isolation: readOwnIsolation(env),
    logLevel: variables.EYRIE_LOG_LEVEL,
    logFormat: variables.EYRIE_LOG_FORMAT,
    tracing: readTraceSettings(variables),
  }
}

/** Returns the identity that the supervisor passes, or the one in the configured files. */
function readTls(variables: Variables): TlsIdentity | undefined {
  const { EYRIE_TLS_CERT_PEM: cert, EYRIE_TLS_KEY_PEM: key } = variables
  return cert && key
    ? { cert, key }
    : readTlsIdentity(variables.EYRIE_TLS_CERT, variables.EYRIE_TLS_KEY)
}

/** Returns the URL by which programs on this machine reach a service that listens on `host`. */
export function toLocalUrl(
  host: string,
  localPort: number,
  { isSecure }: { isSecure: boolean },
): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host
  const scheme = isSecure ? 'https' : 'http'
  return `${scheme}://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${localPort}`
}

function parseVariables(env: NodeJS.ProcessEnv): Variables {
  // An empty variable counts as unset.
  const nonEmpty = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = environmentVariables.safeParse(nonEmpty)
  if (parsed.success) return parsed.data

  const [issue] = parsed.error.issues
  throw new Error(`${issue?.path.join('.')} is not valid: ${issue?.message}`)
}

/** Tokens are separated by commas or white space. */
const parseTokens = (text: string) => text.split(/[,\s]+/).filter(Boolean)

/**
 * Returns the ring folder of services that no supervisor has started. Instances with different data
 * folders must not share a folder. The token makes the name unknown to other users of the machine,
 * who could create the folder first.
 */
function getDefaultRingFolder(data: string, internalToken = ''): string {
  const digest = createHmac('sha256', internalToken).update(data).digest('hex')
  return `/dev/shm/eyrie-${digest.slice(0, 32)}`
}

function readTraceSettings(variables: Variables): TraceSettings | undefined {
  const url = chooseTraceUrl(variables)
  if (!url) return undefined
  return {
    url,
    headers: parseTraceHeaders(
      variables.OTEL_EXPORTER_OTLP_TRACES_HEADERS ?? variables.OTEL_EXPORTER_OTLP_HEADERS ?? '',
    ),
    serviceName: variables.OTEL_SERVICE_NAME,
    sampleRatio: variables.OTEL_TRACES_SAMPLER_ARG,
    exportDelayMs: variables.OTEL_BSP_SCHEDULE_DELAY,
    exportTimeoutMs: variables.OTEL_EXPORTER_OTLP_TIMEOUT,
  }
}

/**
 * Parses `name=value,name=value` with percent-encoded values, as the OpenTelemetry
 * specification defines them.
 */
function parseTraceHeaders(text: string): Record<string, string> {
  const pairs = text.split(',').map(pair => /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair))
  try {
    return Object.fromEntries(
      pairs.flatMap(pair => (pair ? [[pair[1], decodeURIComponent(pair[2]!)]] : [])),
    )
  } catch {
    throw new Error(
      'OTEL_EXPORTER_OTLP_HEADERS is not valid: write a percent sign in a value as %25',
    )
  }
}

/**
 * The endpoint of traces takes precedence over the general endpoint, which lacks the path of
 * traces.
 */
function chooseTraceUrl(variables: Variables): string | undefined {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_ENDPOINT } = variables
  if (OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) return OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
  if (!OTEL_EXPORTER_OTLP_ENDPOINT) return undefined
  const baseUrl = OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/, '')
  return `${baseUrl}/v1/traces`
}

/** Returns a secret, either from a variable or from a file. */
function readSecret(value: string | undefined, file: string | undefined): string | undefined {
  if (value || !file) return value
  if (!existsSync(file)) throw new Error(`the secret file ${file} does not exist`)
  return readFileSync(file, 'utf8').trim() || undefined
}
