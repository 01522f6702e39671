import { EyrieError, type IceServer, type StreamSize } from '@eyrie/contract'
import { createMediaTypeError, getMediaType, limitBodySize } from '@eyrie/kit/request-body'
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { parseStreamSize } from '../http/stream-size.ts'
import type { Sound } from '../sound/source-sound.ts'
import type { Stream } from '../stream/live-stream.ts'
import { parseIceUsername } from './sdp/sdp-offer.ts'
import type { WebRtc } from './webrtc.ts'
import type { WhepSession } from './whep-session.ts'

const SDP = 'application/sdp'
const ICE_FRAGMENT = 'application/trickle-ice-sdpfrag'
const MAX_SDP_BYTES = 64 << 10
const MAX_LEASE_S = 3600

/**
 * Serves live views over WHEP (draft-ietf-wish-whep, which builds on RFC 9725), the HTTP protocol
 * for the setup of a WebRTC connection: a viewer posts an SDP offer and receives an answer.
 *
 * The response headers `X-Epoch` and `X-Pts` are the stream time at which the viewer joins. The
 * RTP timestamp of video is the `pts` of the frame modulo 2³², and that of audio is the same time
 * counted at 48 kHz. Streams with B-frames are transcoded, or rejected with 406 if the request
 * has `?transcode=false`. With `?lease_s=60`, a session ends after 60 seconds without an OPTIONS
 * request to it.
 */
export function whepRoutes(
  app: Hono<{ Bindings: HttpBindings }>,
  webrtc: WebRtc,
  openStream: (id: string, form: { transcoded?: boolean; size: StreamSize }) => Promise<Stream>,
  findSound: (id: string) => Sound | undefined,
): void {
  const limit = limitBodySize(MAX_SDP_BYTES, 'SDP')
  const streamIds = new WeakMap<WhepSession, string>()

  /** Returns the session of a request. Throws `EyrieError` (`id`) if it is not of the stream. */
  function findSession(path: { id: string; session: string }): WhepSession {
    const session = webrtc.getSession(path.session)
    // Access to one stream is no access to the sessions of another.
    if (streamIds.get(session) === path.id) return session
    throw new EyrieError('id', 'this WebRTC session belongs to another stream')
  }

  /** Opens the stream in a form that WebRTC can carry, if the viewer allows transcoding. */
  async function openCarriedStream(
    id: string,
    size: StreamSize,
    mayTranscode: boolean,
  ): Promise<Stream> {
    const original = await openStream(id, { size })
    if (!mayTranscode || webrtc.canCarry(original)) return original
    return openStream(id, { size, transcoded: true })
  }

  app.options('/streams/:id/whep', c => {
    addIceServerLinks(c, webrtc.settings.ice_servers)
    return c.body(null, 204, { 'Accept-Post': SDP, Allow: 'OPTIONS, POST' })
  })

  app.post('/streams/:id/whep', limit, async c => {
    assertContentType(c, SDP)
    const id = c.req.param('id')
    const mayTranscode = c.req.query('transcode') !== 'false'
    const stream = await openCarriedStream(id, parseStreamSize(c), mayTranscode)
    const leaseMs = parseLease(c)
    const session = await webrtc.openSession(stream, findSound(id), await c.req.text(), leaseMs)

    streamIds.set(session, id)

    // If the viewer has disconnected meanwhile, it does not know the Location and could
    // never end the session.
    if (c.req.raw.signal.aborted) session.close()

    const { epoch } = stream.info()!
    addIceServerLinks(c, webrtc.settings.ice_servers)
    return c.body(session.answer, 201, {
      'Content-Type': SDP,
      Location: `${c.req.path}/${session.id}`,
      ETag: session.etag(),
      'Accept-Patch': ICE_FRAGMENT,
      'X-Epoch': String(epoch),
      'X-Pts': String(stream.newestPts()),
    })
  })

  // The management service renews the lease of a session while its viewer has access.
  app.options('/streams/:id/whep/:session', c => {
    findSession(c.req.param()).renew()
    return c.body(null, 204, { 'Accept-Patch': ICE_FRAGMENT, Allow: 'DELETE, OPTIONS, PATCH' })
  })

  app.patch('/streams/:id/whep/:session', limit, async c => {
    const session = findSession(c.req.param())
    assertContentType(c, ICE_FRAGMENT)

    const iceUsername = parseIceUsername(await c.req.text())
    if (!iceUsername) throw new EyrieError('syntax', 'the SDP fragment has no a=ice-ufrag')
    const isRestart = session.isRestart(iceUsername)
    assertEntityTag(c, session, isRestart)

    // The fragment has the viewer's ICE candidates. They are not needed: an ICE-lite server learns
    // them from incoming packets.
    if (!isRestart) return c.body(null, 204)

    const fragment = await session.restartIce(iceUsername)
    return c.body(fragment, 200, { 'Content-Type': ICE_FRAGMENT, ETag: session.etag() })
  })

  app.delete('/streams/:id/whep/:session', c => {
    findSession(c.req.param()).close()
    return c.body(null, 200)
  })
}

/** Adds a `Link` header for each ICE server address, with its credentials (RFC 9725, 4.4). */
function addIceServerLinks(c: Context, servers: readonly IceServer[]) {
  for (const { urls, username, credential } of servers) {
    const parameters = ['rel="ice-server"']
    if (username) parameters.push(`username=${quote(username)}`)
    if (credential) parameters.push(`credential=${quote(credential)}`, 'credential-type="password"')
    for (const url of urls) {
      c.header('Link', [`<${url}>`, ...parameters].join('; '), { append: true })
    }
  }
}

const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

/** Returns the lease of a session in ms; undefined if none is requested. */
function parseLease(c: Context): number | undefined {
  const text = c.req.query('lease_s')
  if (text === undefined) return undefined
  const seconds = Number(text)
  if (Number.isInteger(seconds) && seconds > 0 && seconds <= MAX_LEASE_S) return seconds * 1000
  throw new EyrieError('syntax', `lease_s must be an integer from 1 to ${MAX_LEASE_S}`)
}

function assertContentType(c: Context, expected: string) {
  const type = getMediaType(c)
  if (type !== expected) throw createMediaTypeError(type, [expected])
}

/**
 * Checks that the viewer knows the current state of the session. For an ICE restart, `*` suffices.
 */
function assertEntityTag(c: Context, session: WhepSession, isRestart: boolean) {
  const expected = c.req.header('If-Match')
  if (!expected) {
    throw new EyrieError('precondition', 'send If-Match with the ETag, or * for an ICE restart', {
      status: 428,
    })
  }

  const isCurrent = expected === session.etag() || (isRestart && expected === '*')
  if (!isCurrent) throw new EyrieError('precondition', `the session's ETag is ${session.etag()}`)
}
