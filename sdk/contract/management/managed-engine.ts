import { z } from 'zod'
import { route } from './management-route.ts'
import { name, recordId, reference, referenceIds, text, timestamp } from './record-fields.ts'

/** A host name or IP address, without scheme and port. */
const host = name.regex(/^(?:[A-Za-z\d][\w.-]{0,252}|[\da-fA-F]{0,4}:[\da-fA-F:.]{1,45})$/, {
  error: 'must be a host name or an IP address alone, such as 192.168.0.20',
})

const UNITS_MS = { ms: 1, s: 1000, m: 60_000 }
const SHORTEST_MS = 100
const LONGEST_MS = 300_000

/** Of a duration such as `5s`, `500ms` or `1m`; NaN where it is none. */
export function parseTimeoutMs(duration: string): number {
  const [, amount, unit] = /^(\d{1,6}(?:\.\d{1,3})?)(ms|s|m)$/.exec(duration) ?? []
  return Number(amount) * UNITS_MS[(unit ?? 's') as keyof typeof UNITS_MS]
}

const timeout = z
  .string()
  .refine(given => parseTimeoutMs(given) >= SHORTEST_MS && parseTimeoutMs(given) <= LONGEST_MS, {
    error: 'must be a duration from 100ms to 5m, such as 5s',
  })

/** `times` 0: for ever. `wait_base` in ms: doubled after each attempt, unless `disable_backoff`. */
export const engineRetry = z.strictObject({
  disable_backoff: z.boolean(),
  times: z.int().min(0).max(1_000_000),
  wait_base: z.int().min(0).max(3_600_000),
})
export type EngineRetry = z.infer<typeof engineRetry>

const engineInput = z.strictObject({
  engine_name: name,
  engine_address: host,
  engine_port: z.int().min(1).max(65_535),
  engine_is_secure: z.boolean(),
  /** The engine's bearer token. It is never shown; left out of an update, it stays. */
  engine_key: text.optional(),
  engine_timeout: timeout,
  engine_retry: engineRetry,
  site_ids: referenceIds('site').optional(),
})

/** How an engine stands, as numbers tell it. */
export const ENGINE_STATUS = { unknown: 0, online: 1, offline: 2, error: 3 } as const

export const engineStatus = z.int().min(ENGINE_STATUS.unknown).max(ENGINE_STATUS.error)

export const engine = z
  .object({
    engine_id: recordId,
    engine_name: z.string(),
    engine_address: z.string(),
    engine_port: z.int(),
    engine_is_secure: z.boolean(),
    engine_timeout: z.string(),
    engine_retry: engineRetry,
    engine_api_version: z.string(),
    engine_version: z.string(),
    engine_created_at: timestamp,
    engine_updated_at: timestamp,
    /** SHA-256 of the engine's configuration as it was last read. */
    engine_hash: z.string(),
    engine_host_name: z.string(),
    /** A license is activated on it. */
    engine_is_active: z.boolean(),
    /** Its load is being recorded. */
    engine_is_statistics: z.boolean(),
    /** Paths of its API and their methods. */
    engine_routes: z.record(z.string(), z.array(z.string())),
    engine_status: engineStatus,
    /** Why the status is 2 or 3. */
    engine_reason: z.string(),
    site_ids: z.array(recordId),
    /** The first of `site_ids`. */
    site_id: recordId.nullable(),
    site_key: z.string(),
  })
  .meta({ id: 'ManagedEngine' })
export type Engine = z.infer<typeof engine>

/** Percent of the machine, bytes, bytes. */
const sample = z.object({
  cpu: z.number(),
  mem_physical: z.number(),
  mem_virtual: z.number(),
  time: timestamp,
})

const statistics = z.object({
  engine_id: recordId,
  /** Oldest first. */
  engine_stats: z.array(sample),
  /** Seconds. */
  engine_uptime: z.number(),
})

/** Where an engine is not as it is stored here. */
export const drift = z
  .object({
    record: z.enum(['source', 'pipeline']),
    record_id: recordId,
    name: z.string(),
    /** The id on the engine; null where it is not there. */
    sid: z.int().nullable(),
    /** The field that somebody has changed on the engine; empty where the engine takes the whole record not. */
    field: z.string(),
    /** Passwords are not shown. */
    stored: z.unknown(),
    found: z.unknown(),
    /** Why the engine does not take what is stored here; empty: it was changed there. */
    reason: z.string(),
  })
  .meta({ id: 'Drift' })
export type Drift = z.infer<typeof drift>

export const driftReport = z.object({
  engine_id: recordId,
  /** Null: the engine has not been looked at since management was started. */
  checked_at: timestamp.nullable(),
  drift: z.array(drift),
})

const byId = z.strictObject({ engine_id: reference('engine') })
const outputs = [
  ...['engine_api_version', 'engine_version', 'engine_created_at', 'engine_updated_at', 'engine_hash'],
  ...['engine_host_name', 'engine_is_active', 'engine_is_statistics', 'engine_routes', 'engine_status'],
  ...['engine_reason', 'engine_stats', 'site_id', 'site_key'],
]

export const engineRoutes = {
  create: route({
    method: 'post',
    path: '/engine/create',
    summary: 'Register an engine',
    access: 'administer',
    body: engineInput,
    ignoredFields: ['engine_id', ...outputs],
    status: 201,
    response: null,
    readBack: { path: '/engine/status', by: 'engine_id' },
  }),
  update: route({
    method: 'post',
    path: '/engine/update',
    summary: 'Update an engine',
    access: 'administer',
    body: engineInput.extend(byId.shape),
    ignoredFields: outputs,
    status: 200,
    response: null,
  }),
  delete: route({
    method: 'post',
    path: '/engine/delete',
    summary: 'Take an engine out of management',
    access: 'administer',
    body: byId,
    status: 200,
    response: null,
  }),
  repair: route({
    method: 'post',
    path: '/engine/repair',
    summary: 'Make an engine what is stored here, whatever was changed there',
    access: 'administer',
    body: byId,
    status: 200,
    response: driftReport,
  }),
  list: route({
    method: 'get',
    path: '/engine/list',
    summary: 'List the engines of sites',
    access: 'view',
    query: z.strictObject({
      /** Ids with commas between them; none: all engines. */
      site_ids: z.preprocess(
        given => (Array.isArray(given) ? given.join(',') : given),
        z
          .string()
          .transform(ids => ids.split(',').filter(Boolean))
          .pipe(referenceIds('site')),
      ),
    }),
    status: 200,
    response: z.array(engine),
  }),
  stats: route({
    method: 'get',
    path: '/engine/stats',
    summary: "Get the history of an engine's load",
    access: 'view',
    query: byId,
    status: 200,
    response: statistics,
  }),
  status: route({
    method: 'get',
    path: '/engine/status',
    summary: 'Get an engine with its status',
    access: 'view',
    query: byId,
    status: 200,
    response: z.object({ ...engine.shape, engine_stats: z.array(sample) }),
  }),
  drift: route({
    method: 'get',
    path: '/engine/drift',
    summary: 'List what is on an engine not as it is stored here',
    access: 'view',
    query: byId,
    status: 200,
    response: driftReport,
  }),
}
