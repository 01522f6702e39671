import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Configuration,
  errorBody,
  listRoutes,
  routesV1,
  routesV2,
  routesV3,
} from '@eyrie/contract'
import fc from 'fast-check'
import { type ApiRevision, type EngineResponse, startEngine } from '../fixtures/engine/engine.ts'
import { createRequestArbitrary, type FuzzedRequest } from './arbitrary-request.ts'

/**
 * The configuration is reset after this many requests, so that most requests find existing
 * resources.
 */
const RESET_INTERVAL = 100

const initialConfiguration = ['rtsp://camera/1', 'rtsp://camera/2', 'test://ball'].map(
  (address, priority) => ({
    sources: [{ type: address.startsWith('test') ? 'inf' : 'video', address }],
    sinks: [{ type: 'inf', address: `inf://${priority}` }],
    elements: [{ name: 'object-tracking' }, { name: 'line-crossing' }],
    priority,
  }),
)

export interface FuzzOptions {
  requests: number
  seed?: number
  /** Called with the number of requests sent, at every reset. */
  onProgress?(sent: number): void
}

/**
 * Sends requests to every route of every revision and checks each response against the contract.
 * Throws an Error with the shortest request that violates it, and the seed to reproduce it.
 */
export async function fuzzEngine({ requests, seed, onProgress }: FuzzOptions): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'eyrie-fuzz-'))
  const { engine, getRevision } = await startEngine(data, { EYRIE_LICENSE: 'community' })
  let sent = 0
  let configuration: Configuration
  const reset = async () => {
    await getRevision('v3')('POST', '/configuration', [])
    configuration = (await getRevision('v3')('POST', '/configuration', initialConfiguration)).body
  }
  const send = async (revision: ApiRevision, request: FuzzedRequest) => {
    if (sent % RESET_INTERVAL === 0) {
      await reset()
      onProgress?.(sent)
    }
    sent += 1
    const { route, headers, body } = request
    return getRevision(revision)(
      route.method.toUpperCase(),
      buildPath(request, configuration),
      body,
      headers,
    )
  }
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          createRequests('v1', routesV1),
          createRequests('v2', routesV2),
          createRequests('v3', routesV3),
        ),
        async ({ revision, request }) => {
          const violation = findViolation(request, await send(revision, request))
          if (violation) {
            throw new Error(
              `${request.route.method} /api/${revision}${request.route.path}: ${violation}`,
            )
          }
        },
      ),
      { numRuns: requests, seed },
    )
  } finally {
    await engine.stop()
    await rm(data, { recursive: true })
  }
}

function createRequests(revision: ApiRevision, routes: Parameters<typeof listRoutes>[0]) {
  const request = fc.oneof(...listRoutes(routes).map(createRequestArbitrary))
  return request.map(request => ({ revision, request }))
}

function buildPath({ route, params, query }: FuzzedRequest, configuration: Configuration): string {
  const kind = /^\/(sources|sinks|pipelines)/.exec(route.path)?.[1] as
    | keyof Configuration
    | undefined
  const { id } = params
  const existingId = typeof id === 'number' && kind ? configuration[kind][id]?.id : undefined
  const values: typeof params = existingId === undefined ? params : { ...params, id: existingId }
  return route.path.replaceAll(/{(\w+)}/g, (_, name) => String(values[name])) + query
}

/** Describes how a response violates the contract of its route; undefined when it conforms. */
function findViolation(
  { route }: FuzzedRequest,
  { status, body }: EngineResponse,
): string | undefined {
  // Media is not running, so routes that need it have to respond with `unavailable`.
  const isUnavailable =
    status === 503 && route.errors.includes('unavailable') && body.code === 'unavailable'
  if (status >= 500 && !isUnavailable) return `${status} ${JSON.stringify(body)}`
  if (status === 304 || status === 204) return body === '' ? undefined : `${status} with a body`
  if (status >= 400) {
    const isConflictBody = status === 409 && route.conflictBody?.safeParse(body).success
    return isConflictBody || errorBody.safeParse(body).success
      ? undefined
      : `invalid error body: ${JSON.stringify(body)}`
  }
  const isMinimal = status === 201 && ['id', 'name'].includes(Object.keys(body).join())
  const parsed = route.response?.safeParse(body)
  return isMinimal || parsed?.success
    ? undefined
    : `response violates the contract: ${parsed?.error?.message}`
}
