import { EyrieError, type IceServer } from '@eyrie/contract'
import { limitBodySize } from '@eyrie/kit/body-limit'
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import type { Sound } from '../sound/source-sound.ts'
import type { Stream } from '../stream/live-stream.ts'
import { parseIceUsername } from './sdp/sdp-offer.ts'
import type { WebRtc } from './webrtc.ts'
import type { WhepSession } from './whep-session.ts'

const SDP = 'application/sdp'
const ICE_FRAGMENT = 'application/trickle-ice-sdpfrag'
const MAX_SDP_BYTES = 64 << 10

/**
 * WHEP (draft-ietf-wish-whep, over RFC 9725): a viewer posts an SDP offer and gets an answer with the stream.
 *
 * `X-Epoch` and `X-Pts` in the response are the stream time at which the viewer joins. RTP timestamps of video are the `pts`
 * modulo 2³², so a frame's `pts` is the value nearest to the previous frames; those of audio are the same time at 48 kHz.
 * Streams with B-frames are transcoded; with `?transcode=false` they are rejected with 406.
 */
export function whepRoutes(
  app: Hono<{ Bindings: HttpBindings }>,
  webrtc: WebRtc,
  openStream: (id: string, form?: { transcoded: boolean }) => Promise<Stream>,
  findSound: (id: string) => Sound | undefined,
): void {
  const limit = limitBodySize(
    MAX_SDP_BYTES,
    () => new EyrieError('size', `the SDP is larger than ${MAX_SDP_BYTES} bytes`),
  )

  app.options('/streams/:id/whep', c => {
    addIceServerLinks(c, webrtc.settings.ice_servers)
    return c.body(null, 204, { 'Accept-Post': SDP, Allow: 'OPTIONS, POST' })
  })

  app.post('/streams/:id/whep', limit, async c => {
    assertContentType(c, SDP)
    const id = c.req.param('id')
    const original = await openStream(id)
    const canSend = webrtc.canCarry(original) || c.req.query('transcode') === 'false'
    const stream = canSend ? original : await openStream(id, { transcoded: true })
    const session = await webrtc.openSession(stream, findSound(id), await c.req.text())
    // A viewer that has disconnected never receives the Location with which it could end the session.
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

  app.patch('/streams/:id/whep/:session', limit, async c => {
    const session = webrtc.getSession(c.req.param('session'))
    assertContentType(c, ICE_FRAGMENT)
    const iceUsername = parseIceUsername(await c.req.text())
    if (!iceUsername) throw new EyrieError('syntax', 'the SDP fragment has no a=ice-ufrag')
    const isRestart = session.isRestart(iceUsername)
    assertEntityTag(c, session, isRestart)
    // Otherwise the fragment lists the viewer's candidates, which the server learns from incoming packets instead.
    if (!isRestart) return c.body(null, 204)
    const fragment = await session.restartIce(iceUsername)
    return c.body(fragment, 200, { 'Content-Type': ICE_FRAGMENT, ETag: session.etag() })
  })

  app.delete('/streams/:id/whep/:session', c => {
    webrtc.getSession(c.req.param('session')).close()
    return c.body(null, 200)
  })
}

/** Adds a `Link` header for each ICE server address, with its credentials (RFC 9725, 4.4). */
function addIceServerLinks(c: Context, servers: readonly IceServer[]) {
  for (const { urls, username, credential } of servers) {
    const parameters = ['rel="ice-server"']
    if (username) parameters.push(`username=${quote(username)}`)
    if (credential) parameters.push(`credential=${quote(credential)}`, 'credential-type="password"')
    for (const url of urls) c.header('Link', [`<${url}>`, ...parameters].join('; '), { append: true })
  }
}

const quote = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

function assertContentType(c: Context, expected: string) {
  const type = c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== expected) throw new EyrieError('type', `send Content-Type: ${expected}`)
}

function assertEntityTag(c: Context, session: WhepSession, isRestart: boolean) {
  const match = c.req.header('If-Match')
  if (!match) {
    throw new EyrieError('precondition', 'send If-Match with the ETag, or * for an ICE restart', {
      status: 428,
    })
  }
  if (match !== session.etag() && !(isRestart && match === '*'))
    throw new EyrieError('precondition', `the session's ETag is ${session.etag()}`)
}
