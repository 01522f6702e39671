import { EyrieError } from '@eyrie/contract'
import { mountRoutes } from '@eyrie/kit/mount-routes'
import { limitBodySize } from '@eyrie/kit/request-body'
import { type Context, Hono } from 'hono'
import { z } from 'zod'
import { pickHeaders, type Upstream } from './upstream-client.ts'
import { type CheckAccess, findDenial, getAccessCheck, waitForRecheck } from './view-access.ts'

const MAX_SDP_BYTES = 64 * 1024
/**
 * The media service ends a session whose access has not been checked for this time, such as after a
 * restart of this service. A viewer that sends a PATCH after the restart, as the console does, is
 * checked again from then on. It must cover a restart.
 */
const LEASE_S = 60
/** Headers that WHEP uses. All other headers are dropped. */
const REQUEST_HEADERS = ['content-type', 'if-match']
const RESPONSE_HEADERS = [
  'accept-patch',
  'accept-post',
  'allow',
  'content-type',
  'etag',
  'link',
  'x-epoch',
  'x-pts',
]

/**
 * Forwards the requests of WHEP, the protocol for playing a live stream over WebRTC
 * (draft-ietf-wish-whep), to the media service. The video itself flows directly from the media
 * service to the browser. `getStreamId` returns the id of the stream that a request is about.
 */
export function createWhepRoutes(media: Upstream, getStreamId: (c: Context) => number): Hono {
  const app = new Hono()
  const limitSdp = limitBodySize(MAX_SDP_BYTES, 'SDP')

  /** Paths, at the media service, of the sessions whose access is checked. */
  const checkedPaths = new Set<string>()

  /** Checks the access to a session until it has ended, unless it is checked already. */
  async function checkUntilEnd(path: string, checkAccess: CheckAccess) {
    if (checkedPaths.has(path)) return
    checkedPaths.add(path)
    await renewWithAccess(media, path, checkAccess)
    checkedPaths.delete(path)
  }

  const toSessionPath = (c: Context, sessionId: string) =>
    `/streams/${getStreamId(c)}/whep/${sessionId}`
  const forwardToStream = (c: Context, query = pickViewQuery(c)) =>
    forwardToMedia(media, c, `/streams/${getStreamId(c)}/whep?${query}`)
  const openSession = async (c: Context) => {
    const checkAccess = getAccessCheck(c)
    if (!checkAccess) return forwardToStream(c)

    const query = pickViewQuery(c)
    query.set('lease_s', String(LEASE_S))
    const response = await forwardToStream(c, query)
    const sessionId = readSessionId(response)
    if (sessionId) void checkUntilEnd(toSessionPath(c, sessionId), checkAccess)
    return response
  }
  const forwardToSession = (c: Context) =>
    forwardToMedia(media, c, toSessionPath(c, parseSessionId(c)))
  const patchSession = async (c: Context) => {
    const response = await forwardToSession(c)
    const checkAccess = getAccessCheck(c)
    if (checkAccess) void checkUntilEnd(toSessionPath(c, parseSessionId(c)), checkAccess)
    return response
  }

  mountRoutes(app, [
    { method: 'options', path: '/{id}/whep', handlers: [c => forwardToStream(c)] },
    { method: 'post', path: '/{id}/whep', handlers: [limitSdp, openSession] },
    { method: 'patch', path: '/{id}/whep/{session}', handlers: [limitSdp, patchSession] },
    { method: 'delete', path: '/{id}/whep/{session}', handlers: [forwardToSession] },
  ])
  return app
}

/** Forwards a request to a path of the media service, and its response to the client. */
async function forwardToMedia(media: Upstream, c: Context, path: string): Promise<Response> {
  const { method } = c.req
  const headers = pickHeaders(REQUEST_HEADERS, c.req.raw.headers)
  const body = method === 'POST' || method === 'PATCH' ? await c.req.text() : undefined
  const response = await media.fetch(path, { method, headers, body })

  const responseHeaders = pickHeaders(RESPONSE_HEADERS, response.headers)
  // `Location` is the path of the new session in the media service. The browser must use the path
  // of these routes instead.
  const sessionId = readSessionId(response)
  if (sessionId) responseHeaders.set('location', `${c.req.path}/${sessionId}`)
  return new Response(response.body, { status: response.status, headers: responseHeaders })
}

/** Returns the last segment of the session's path. Undefined unless the response is to an offer. */
const readSessionId = ({ headers }: Response) => headers.get('location')?.split('/').at(-1)

/**
 * Checks the access of the client of a session again and again. Renews the lease of the session
 * while access lasts, and ends the session when access has ended. Resolves when the session has
 * ended: at the latest when its lease has, because it could not be renewed.
 */
async function renewWithAccess(
  media: Upstream,
  path: string,
  checkAccess: CheckAccess,
): Promise<void> {
  let renewedAt = performance.now()
  while (performance.now() - renewedAt < LEASE_S * 1000) {
    await waitForRecheck()
    const denial = await findDenial(checkAccess)
    try {
      await media.fetch(path, { method: denial ? 'DELETE' : 'OPTIONS' })
      if (denial) return
      renewedAt = performance.now()
    } catch (error) {
      const hasEnded = error instanceof EyrieError && error.code === 'id'
      if (hasEnded) return
      // The media service is unreachable.
    }
  }
}

/**
 * Returns the query parameters that are forwarded: whether the media service may transcode, and
 * the size of the stream.
 */
function pickViewQuery(c: Context): URLSearchParams {
  const query = new URLSearchParams()
  for (const name of ['transcode', 'size']) {
    const value = c.req.query(name)
    if (value !== undefined) query.set(name, value)
  }
  return query
}

function parseSessionId(c: Context): string {
  const parsed = z.uuid().safeParse(c.req.param('session'))
  if (!parsed.success) {
    throw new EyrieError('id', `"${c.req.param('session')}" is not the id of a session`)
  }
  return parsed.data
}
