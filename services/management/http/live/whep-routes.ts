import { EyrieError } from '@eyrie/contract'
import { mountRoutes } from '@eyrie/kit/mount-routes'
import { assertBodySize } from '@eyrie/kit/request-body'
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

/** A stream, and the media service that shows it. */
export interface MediaView {
  media: Upstream
  stream: number
}

/**
 * Forwards the requests of WHEP, the protocol for playing a live stream over WebRTC
 * (draft-ietf-wish-whep), to the media service. The video itself flows directly from the media
 * service to the browser. `openView` returns the stream that a request is about.
 */
export function createWhepRoutes(openView: (c: Context) => Promise<MediaView>): Hono {
  const app = new Hono()

  /** Paths, at the media service, of the sessions whose access is checked. */
  const checkedPaths = new Set<string>()

  /** Checks the access to a session until it has ended, unless it is checked already. */
  async function checkUntilEnd(media: Upstream, path: string, checkAccess: CheckAccess) {
    if (checkedPaths.has(path)) return
    checkedPaths.add(path)
    await renewWithAccess(media, path, checkAccess)
    checkedPaths.delete(path)
  }

  const describeEndpoint = async (c: Context) => {
    const { media, stream } = await openView(c)
    return forwardToMedia(media, c, `${toWhepPath(stream)}?${pickViewQuery(c)}`)
  }
  const openSession = async (c: Context) => {
    const { media, stream } = await openView(c)
    const query = pickViewQuery(c)
    const checkAccess = getAccessCheck(c)
    if (checkAccess) query.set('lease_s', String(LEASE_S))
    const response = await forwardToMedia(media, c, `${toWhepPath(stream)}?${query}`)
    const sessionId = readSessionId(response)
    if (sessionId && checkAccess) {
      void checkUntilEnd(media, `${toWhepPath(stream)}/${sessionId}`, checkAccess)
    }
    return response
  }
  const patchSession = async (c: Context) => {
    const { media, stream } = await openView(c)
    const path = `${toWhepPath(stream)}/${parseSessionId(c)}`
    const response = await forwardToMedia(media, c, path)
    const checkAccess = getAccessCheck(c)
    if (checkAccess) void checkUntilEnd(media, path, checkAccess)
    return response
  }
  const closeSession = async (c: Context) => {
    const { media, stream } = await openView(c)
    return forwardToMedia(media, c, `${toWhepPath(stream)}/${parseSessionId(c)}`)
  }

  mountRoutes(app, [
    { method: 'options', path: '/{id}/whep', handlers: [describeEndpoint] },
    { method: 'post', path: '/{id}/whep', handlers: [openSession] },
    { method: 'patch', path: '/{id}/whep/{session}', handlers: [patchSession] },
    { method: 'delete', path: '/{id}/whep/{session}', handlers: [closeSession] },
  ])
  return app
}

/** Path, at the media service, at which sessions of a stream are opened. */
const toWhepPath = (stream: number) => `/streams/${stream}/whep`

/** Forwards a request to a path of the media service, and its response to the client. */
async function forwardToMedia(media: Upstream, c: Context, path: string): Promise<Response> {
  const { method } = c.req
  const headers = pickHeaders(REQUEST_HEADERS, c.req.raw.headers)
  const body = method === 'POST' || method === 'PATCH' ? await readSdp(c) : undefined
  const response = await media.fetch(path, { method, headers, body })

  const responseHeaders = pickHeaders(RESPONSE_HEADERS, response.headers)
  // `Location` is the path of the new session in the media service. The browser must use the path
  // of these routes instead.
  const sessionId = readSessionId(response)
  if (sessionId) responseHeaders.set('location', `${c.req.path}/${sessionId}`)
  return new Response(response.body, { status: response.status, headers: responseHeaders })
}

async function readSdp(c: Context): Promise<string> {
  await assertBodySize(c, MAX_SDP_BYTES, 'SDP')
  return c.req.text()
}

/**
 * Returns the last segment of the session's path, without the query. Undefined unless the response
 * is to an offer.
 */
const readSessionId = ({ headers }: Response) =>
  headers.get('location')?.replace(/\?.*$/, '').split('/').at(-1)

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
