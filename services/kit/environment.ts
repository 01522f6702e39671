import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { email } from '@eyrie/contract/management/user'
import { parsePathList } from '@eyrie/contract/path-list'
import { z } from 'zod'
import { readTlsIdentity, type TlsIdentity } from './tls.ts'
import type { TraceSettings } from './tracer.ts'

const port = (defaultPort: number) => z.coerce.number().int().min(0).max(65535).default(defaultPort)
const folders = z.string().transform(list => parsePathList(list).map(folder => resolve(folder)))

const variables = z.object({
  EYRIE_DATA: z
    .string()
    .default('./.eyrie')
    .transform(folder => resolve(folder)),
  EYRIE_HOST: z.string().default('127.0.0.1'),
  EYRIE_ENGINE_PORT: port(8100),
  EYRIE_MEDIA_PORT: port(8200),
  EYRIE_MANAGEMENT_PORT: port(8080),
  EYRIE_ENGINE_TOKENS: z.string().optional(),
  EYRIE_ENGINE_TOKENS_FILE: z.string().optional(),
  EYRIE_INTERNAL_TOKEN: z.string().optional(),
  EYRIE_INTERNAL_TOKEN_FILE: z.string().optional(),
  EYRIE_ENGINE_URL: z.url().optional(),
  EYRIE_MEDIA_URL: z.url().optional(),
  EYRIE_MANAGEMENT_URL: z.url().optional(),
  EYRIE_TLS_CERT: z.string().optional(),
  EYRIE_TLS_KEY: z.string().optional(),
  EYRIE_MEDIA_ROOTS: folders.optional(),
  EYRIE_OUTPUT_ROOTS: folders.optional(),
  EYRIE_RING: z.string().optional(),
  EYRIE_PLUGINS: folders.optional(),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'expected postgres://user@host/database' })
    .optional(),
  EYRIE_ADMIN_EMAIL: email.optional(),
  EYRIE_ADMIN_PASSWORD: z.string().optional(),
  EYRIE_LICENSE: z.string().default('none'),
  MEDIASOUP_WORKER_BIN: z.string().optional(),
  EYRIE_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  OTEL_EXPORTER_OTLP_TIMEOUT: z.coerce.number().int().min(1).default(10_000),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_TRACES_SAMPLER_ARG: z.coerce.number().min(0).max(1).default(1),
  OTEL_BSP_SCHEDULE_DELAY: z.coerce.number().int().min(1).default(5000),
})

/** Variables whose value is a secret, as opposed to the path of a file with a secret. */
export const secretVariables = [
  'EYRIE_ENGINE_TOKENS',
  'EYRIE_INTERNAL_TOKEN',
  'EYRIE_ADMIN_PASSWORD',
  'DATABASE_URL',
] as const satisfies readonly (keyof typeof variables.shape)[]

/** The validated environment variables with all defaults applied. */
export interface Environment {
  data: string
  host: string
  ports: { engine: number; media: number; management: number }
  urls: { engine: string; media: string; management: string }
  /** Bearer tokens of the engine's API. Without tokens the engine serves the loopback interface only. */
  engineTokens: string[]
  /** Token shared by the services. Without it they accept requests from the loopback interface. */
  internalToken: string | undefined
  /** Certificate for HTTPS. Without it the services use HTTP. */
  tls: TlsIdentity | undefined
  mediaRoots: string[]
  outputRoots: string[]
  /** Folder of the frame rings, on tmpfs. */
  ring: string
  /** Folders that are searched for plugins. */
  plugins: string[]
  license: string
  /** URL of an external Postgres. Without it management runs its own below the data folder. */
  databaseUrl: string | undefined
  /** The initial administrator. Missing values are generated at the first start. */
  administrator: { email: string | undefined; password: string | undefined }
  /** Path of the mediasoup worker. The default is the one that the setup installed. */
  webrtcWorker: string | undefined
  logLevel: string
  /** Settings of tracing. Undefined: tracing is disabled. */
  tracing: TraceSettings | undefined
}

/** Parses the environment variables. Throws an `Error` that names the invalid variable and the expected value. */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  // An empty variable counts as unset.
  const nonEmpty = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = variables.safeParse(nonEmpty)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw new Error(`${issue?.path.join('.')} is not valid: ${issue?.message}`)
  }
  const v = parsed.data
  const ports = {
    engine: v.EYRIE_ENGINE_PORT,
    media: v.EYRIE_MEDIA_PORT,
    management: v.EYRIE_MANAGEMENT_PORT,
  }
  const tls = readTlsIdentity(v.EYRIE_TLS_CERT, v.EYRIE_TLS_KEY)
  const localUrl = (p: number) => `${tls ? 'https' : 'http'}://127.0.0.1:${p}`
  return {
    data: v.EYRIE_DATA,
    host: v.EYRIE_HOST,
    ports,
    urls: {
      engine: v.EYRIE_ENGINE_URL ?? localUrl(ports.engine),
      media: v.EYRIE_MEDIA_URL ?? localUrl(ports.media),
      management: v.EYRIE_MANAGEMENT_URL ?? localUrl(ports.management),
    },
    engineTokens:
      readSecret(v.EYRIE_ENGINE_TOKENS, v.EYRIE_ENGINE_TOKENS_FILE)
        ?.split(/[,\s]+/)
        .filter(Boolean) ?? [],
    internalToken: readSecret(v.EYRIE_INTERNAL_TOKEN, v.EYRIE_INTERNAL_TOKEN_FILE),
    tls,
    mediaRoots: v.EYRIE_MEDIA_ROOTS ?? [resolve(v.EYRIE_DATA, 'media')],
    outputRoots: v.EYRIE_OUTPUT_ROOTS ?? [resolve(v.EYRIE_DATA, 'output')],
    ring:
      v.EYRIE_RING ??
      `/dev/shm/eyrie-${createHash('sha256').update(v.EYRIE_DATA).digest('hex').slice(0, 12)}`,
    plugins: v.EYRIE_PLUGINS ?? [resolve(import.meta.dirname, '../../plugins')],
    license: v.EYRIE_LICENSE,
    databaseUrl: v.DATABASE_URL,
    administrator: { email: v.EYRIE_ADMIN_EMAIL, password: v.EYRIE_ADMIN_PASSWORD },
    webrtcWorker: v.MEDIASOUP_WORKER_BIN,
    logLevel: v.EYRIE_LOG_LEVEL,
    tracing: readTraceSettings(v),
  }
}

function readTraceSettings(v: z.output<typeof variables>): TraceSettings | undefined {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint } = v
  const url = endpoint ?? (base && `${base.replace(/\/+$/, '')}/v1/traces`)
  if (!url) return undefined
  return {
    url,
    serviceName: v.OTEL_SERVICE_NAME,
    sampleRatio: v.OTEL_TRACES_SAMPLER_ARG,
    exportDelayMs: v.OTEL_BSP_SCHEDULE_DELAY,
    exportTimeoutMs: v.OTEL_EXPORTER_OTLP_TIMEOUT,
  }
}

/** Returns a secret from its variable or from a file. */
function readSecret(value: string | undefined, file: string | undefined): string | undefined {
  if (value || !file) return value
  if (!existsSync(file)) throw new Error(`the secret file ${file} does not exist`)
  return readFileSync(file, 'utf8').trim() || undefined
}
