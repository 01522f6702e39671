import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Configuration, errorBody, listRoutes, routesV1, routesV2, routesV3 } from '@eyrie/contract'
import fc from 'fast-check'
import { type Answer, type RevisionPath, startEngine } from '../fixtures/engine.ts'
import { type FuzzedRequest, requestTo } from './request.ts'

/** The configuration begins anew after so many requests, so that there is always something to ask for. */
const FRESH_AFTER = 100

const beginning = ['rtsp://camera/1', 'rtsp://camera/2', 'test://ball'].map((address, priority) => ({
  sources: [{ type: address.startsWith('test') ? 'inf' : 'video', address }],
  sinks: [{ type: 'inf', address: `inf://${priority}` }],
  elements: [{ name: 'object-tracking' }, { name: 'line-crossing' }],
  priority,
}))

export interface FuzzOptions {
  requests: number
  seed?: number
  /** Told how many requests have been sent, now and then. */
  onProgress?(sent: number): void
}

/**
 * Sends requests to every route of every revision and holds each answer to the contract. Throws an Error with the
 * shortest request that breaks it, and the seed to see it again.
 */
export async function fuzz({ requests, seed, onProgress }: FuzzOptions): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'eyrie-fuzz-'))
  const { engine, callOf } = await startEngine(data, { EYRIE_LICENSE: 'community' })
  let sent = 0
  let configured: Configuration
  const begin = async () => {
    await callOf('v3')('POST', '/configuration', [])
    configured = (await callOf('v3')('POST', '/configuration', beginning)).body
  }
  const send = async (revision: RevisionPath, request: FuzzedRequest) => {
    if (sent++ % FRESH_AFTER === 0) {
      await begin()
      onProgress?.(sent - 1)
    }
    const { route, headers, body } = request
    return callOf(revision)(route.method.toUpperCase(), pathOf(request, configured), body, headers)
  }
  try {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(requestsOf('v1', routesV1), requestsOf('v2', routesV2), requestsOf('v3', routesV3)),
        async ({ revision, request }) => {
          const fault = faultOf(request, await send(revision, request))
          if (fault)
            throw new Error(`${request.route.method} /api/${revision}${request.route.path}: ${fault}`)
        },
      ),
      { numRuns: requests, seed },
    )
  } finally {
    await engine.stop()
    await rm(data, { recursive: true })
  }
}

function requestsOf(revision: RevisionPath, routes: Parameters<typeof listRoutes>[0]) {
  const request = fc.oneof(...listRoutes(routes).map(requestTo))
  return request.map(request => ({ revision, request }))
}

function pathOf({ route, params, query }: FuzzedRequest, configured: Configuration): string {
  const kind = /^\/(sources|sinks|pipelines)/.exec(route.path)?.[1] as keyof Configuration | undefined
  const { id } = params
  const meant = typeof id === 'number' && kind ? (configured[kind][id]?.id ?? id) : id
  const named: typeof params = { ...params, ...(meant !== undefined && { id: meant }) }
  return route.path.replaceAll(/{(\w+)}/g, (_, name) => String(named[name])) + query
}

/** In which way an answer is not what its route promises; undefined if it is. */
function faultOf({ route }: FuzzedRequest, { status, body }: Answer): string | undefined {
  // There is no media here: what needs it has to say so.
  const isAway = status === 503 && route.errors.includes('unavailable') && body.code === 'unavailable'
  if (status >= 500 && !isAway) return `${status} ${JSON.stringify(body)}`
  if (status === 304 || status === 204) return body === '' ? undefined : `${status} with a body`
  if (status >= 400) {
    const isBare = status === 409 && route.conflictBody?.safeParse(body).success
    return isBare || errorBody.safeParse(body).success ? undefined : `no error body: ${JSON.stringify(body)}`
  }
  const isMinimal = status === 201 && ['id', 'name'].includes(Object.keys(body).join())
  const answer = route.response?.safeParse(body)
  return isMinimal || answer?.success ? undefined : `not as the contract says: ${answer?.error?.message}`
}
