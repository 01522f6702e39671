import { z } from 'zod'
import { route } from './management-route.ts'
import { name, recordId, reference, referenceIds, text, timestamp } from './record-fields.ts'

/**
 * Engines in the management API. The management service connects to engines, configures them and
 * compares their configuration with its own. A difference between the two is called drift.
 */

/** A host name or IP address, without scheme or port. */
const host = name.regex(/^(?:[A-Za-z\d][\w.-]{0,252}|[\da-fA-F]{0,4}:[\da-fA-F:.]{1,45})$/, {
  error: 'must be a host name or IP address without scheme or port, such as 192.168.0.20',
})

/** Milliseconds of each unit of a duration. */
const UNITS_MS = { ms: 1, s: 1000, m: 60_000 }
const MIN_TIMEOUT_MS = 100
const MAX_TIMEOUT_MS = 300_000

/**
 * Parses a duration such as `5s`, `500ms` or `1m` to milliseconds. Returns NaN if it is invalid.
 */
export function parseTimeoutMs(duration: string): number {
  const match = /^(\d{1,6}(?:\.\d{1,3})?)(ms|s|m)$/.exec(duration)
  if (!match) return Number.NaN
  const [, amount, unit] = match
  return Number(amount) * UNITS_MS[unit as keyof typeof UNITS_MS]
}

function isValidTimeout(duration: string): boolean {
  const timeoutMs = parseTimeoutMs(duration)
  return timeoutMs >= MIN_TIMEOUT_MS && timeoutMs <= MAX_TIMEOUT_MS
}

const timeout = z
  .string()
  .refine(isValidTimeout, { error: 'must be a duration from 100ms to 5m, such as 5s' })

/** How the management service reconnects to an engine. */
export const engineRetry = z.strictObject({
  disable_backoff: z.boolean(),
  times: z
    .int()
    .min(0)
    .max(1_000_000)
    .meta({ description: 'Maximum number of attempts; 0: unlimited' }),
  wait_base: z.int().min(0).max(3_600_000).meta({
    description:
      'Initial delay in ms; it doubles after each attempt, up to 15 s once the engine has answered, unless disable_backoff is set',
  }),
})
export type EngineRetry = z.infer<typeof engineRetry>

/** Text that can be sent in an HTTP header. */
const HEADER_TEXT = /^[\x20-\x7e\xa0-\xff]*$/

/** An engine in a request. */
const engineInput = z.strictObject({
  engine_name: name,
  engine_address: host,
  engine_port: z.int().min(1).max(65_535),
  engine_is_secure: z.boolean(),
  engine_key: text
    .regex(HEADER_TEXT, { error: 'must be a single token, without line breaks' })
    .optional()
    .meta({
      description:
        'Bearer token of the engine. It is never returned. An update without a token preserves the stored token',
    }),
  engine_timeout: timeout,
  engine_retry: engineRetry,
  site_ids: referenceIds('site').optional(),
})

/** Values of `engine_status`. */
export const ENGINE_STATUS = { unknown: 0, online: 1, offline: 2, error: 3 } as const

export const engineStatus = z
  .int()
  .min(ENGINE_STATUS.unknown)
  .max(ENGINE_STATUS.error)
  .meta({ description: '0: unknown; 1: online; 2: offline; 3: error' })

/** An engine in a response. */
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
    engine_hash: z
      .string()
      .meta({ description: 'SHA-256 of the last known configuration of the engine' }),
    engine_host_name: z.string(),
    engine_is_active: z
      .boolean()
      .meta({ description: 'Whether the engine has an activated license' }),
    engine_is_statistics: z
      .boolean()
      .meta({ description: 'Whether the load of the engine is recorded' }),
    engine_routes: z
      .record(z.string(), z.array(z.string()))
      .meta({ description: "Paths of the engine's API and their methods" }),
    engine_status: engineStatus,
    engine_reason: z.string().meta({ description: 'Why the engine is offline or in error' }),
    site_ids: z.array(recordId),
    site_id: recordId.nullable().meta({ description: 'The first of site_ids' }),
    site_key: z.string(),
  })
  .meta({ id: 'ManagedEngine' })
export type Engine = z.infer<typeof engine>

/** A sample of the load of an engine. */
const sample = z.object({
  cpu: z.number().meta({ description: 'Percent of the machine' }),
  mem_physical: z.number().meta({ description: 'Bytes' }),
  mem_virtual: z.number().meta({ description: 'Bytes' }),
  time: timestamp,
})

const statistics = z.object({
  engine_id: recordId,
  engine_stats: z.array(sample).meta({ description: 'Oldest first' }),
  engine_uptime: z.number().meta({ description: 'Seconds' }),
})

/**
 * A difference between the configuration of an engine and the configuration that the
 * management service stores.
 */
export const drift = z
  .object({
    record: z.enum(['source', 'pipeline']),
    record_id: recordId,
    name: z.string(),
    sid: z
      .int()
      .nullable()
      .meta({ description: 'Id on the engine; null if it does not exist there' }),
    field: z.string().meta({
      description: 'Field that differs; empty if the engine rejects the record as a whole',
    }),
    stored: z
      .unknown()
      .meta({ description: 'Value that the management service stores; passwords are redacted' }),
    found: z.unknown().meta({ description: 'Value on the engine; passwords are redacted' }),
    reason: z.string().meta({
      description:
        'Why the engine rejects the stored value; empty if the value was changed on the engine',
    }),
  })
  .meta({ id: 'Drift' })
export type Drift = z.infer<typeof drift>

/** All differences that the last check of an engine has found. */
export const driftReport = z.object({
  engine_id: recordId,
  checked_at: timestamp
    .nullable()
    .meta({ description: 'Null if the engine has never been checked' }),
  drift: z.array(drift),
})

/** A token with which engines register themselves, in a response. */
export const joinToken = z
  .object({
    join_token_id: recordId,
    name: z.string(),
    site_ids: z.array(recordId),
    created_at: timestamp,
    used_at: timestamp.nullable().meta({ description: 'When an engine has last joined with it' }),
    expires_at: timestamp.nullable().meta({ description: 'Null if the token never expires' }),
  })
  .meta({ id: 'JoinToken' })
export type JoinToken = z.infer<typeof joinToken>

/** A join token to create. */
export const joinTokenInput = z.strictObject({
  name,
  site_ids: referenceIds('site')
    .optional()
    .meta({ description: 'Sites that the engines serve, of one organization; empty: all sites' }),
  expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
})
export type JoinTokenInput = z.infer<typeof joinTokenInput>

export const newJoinToken = joinToken
  .extend({
    join_token: z.string().meta({ description: 'The token itself. No other operation returns it' }),
  })
  .meta({ id: 'NewJoinToken' })
export type NewJoinToken = z.infer<typeof newJoinToken>

const byId = z.strictObject({ engine_id: reference('engine') })

/** Ids of sites in a query. The parameter can also be repeated. */
const siteIdsParameter = z.preprocess(
  value => (Array.isArray(value) ? value.join(',') : value),
  z
    .string()
    .transform(ids => ids.split(',').filter(Boolean))
    .pipe(referenceIds('site'))
    .meta({ description: 'Comma-separated ids of sites; empty: all engines' }),
)

/** Fields that clients may send back as they have read them. They have no effect. */
const READ_ONLY_FIELDS = [
  'engine_api_version',
  'engine_version',
  'engine_created_at',
  'engine_updated_at',
  'engine_hash',
  'engine_host_name',
  'engine_is_active',
  'engine_is_statistics',
  'engine_routes',
  'engine_status',
  'engine_reason',
  'engine_stats',
  'site_id',
  'site_key',
]

export const engineRoutes = {
  create: route({
    method: 'post',
    path: '/engine/create',
    summary: 'Register an engine',
    description:
      'Only the superadmin registers engines, because the management service connects to the address of an engine.',
    access: 'own',
    body: engineInput,
    ignoredFields: ['engine_id', ...READ_ONLY_FIELDS],
    status: 201,
    response: null,
    readBack: { path: '/engine/status', by: 'engine_id' },
  }),

  update: route({
    method: 'post',
    path: '/engine/update',
    summary: 'Update an engine',
    description:
      'Omitted sites and an omitted key are preserved. A stored key is required again when address, port or `engine_is_secure` change. ' +
      'Administrators may change the name, the sites, the timeout and the retries. Only the superadmin may change the address, the port, the scheme and the key.',
    access: 'administer',
    body: engineInput.extend(byId.shape),
    ignoredFields: READ_ONLY_FIELDS,
    status: 200,
    response: null,
  }),

  delete: route({
    method: 'post',
    path: '/engine/delete',
    summary: 'Remove an engine from the management service',
    access: 'administer',
    body: byId,
    status: 200,
    response: null,
  }),

  repair: route({
    method: 'post',
    path: '/engine/repair',
    summary: 'Restore the stored configuration on an engine',
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
    query: z.strictObject({ site_ids: siteIdsParameter }),
    status: 200,
    response: z.array(engine),
  }),

  join: route({
    method: 'post',
    path: '/engine/join',
    summary: 'Join as an engine',
    description:
      'Engines call it when they start. The address of the engine is that of the connection. An engine that is known by its identity needs no valid token.',
    access: 'anyone',
    body: z.strictObject({
      join_token: text.meta({
        description: 'EYRIE_JOIN_TOKEN of management, or a token of POST /engine/create-join-token',
      }),
      engine_identity: text
        .min(32)
        .meta({ description: 'A secret that the engine has generated, and that stays the same' }),
      engine_name: name,
      engine_port: z.int().min(1).max(65_535),
      engine_is_secure: z.boolean(),
      engine_key: text
        .min(1)
        .regex(HEADER_TEXT, { error: 'must be a single token, without line breaks' })
        .meta({ description: 'Bearer token of the engine' }),
    }),
    status: 200,
    response: z.object({ engine_id: recordId }),
  }),

  createJoinToken: route({
    method: 'post',
    path: '/engine/create-join-token',
    summary: 'Create a join token for engines',
    access: 'own',
    requiresSession: true,
    body: joinTokenInput,
    status: 201,
    response: newJoinToken,
  }),

  listJoinTokens: route({
    method: 'get',
    path: '/engine/join-tokens',
    summary: 'List the join tokens for engines',
    access: 'own',
    status: 200,
    response: z.array(joinToken),
  }),

  deleteJoinToken: route({
    method: 'post',
    path: '/engine/delete-join-token',
    summary: 'Delete a join token',
    description: 'Engines that have joined with it remain registered.',
    access: 'own',
    requiresSession: true,
    body: z.strictObject({ join_token_id: reference('join_token') }),
    status: 200,
    response: null,
  }),

  stats: route({
    method: 'get',
    path: '/engine/stats',
    summary: 'Get the load history of an engine',
    access: 'view',
    query: byId,
    status: 200,
    response: statistics,
  }),

  status: route({
    method: 'get',
    path: '/engine/status',
    summary: 'Get an engine and its status',
    access: 'view',
    query: byId,
    status: 200,
    response: z.object({ ...engine.shape, engine_stats: z.array(sample) }),
  }),

  drift: route({
    method: 'get',
    path: '/engine/drift',
    summary: 'List configuration drift of an engine',
    access: 'view',
    query: byId,
    status: 200,
    response: driftReport,
  }),
}
