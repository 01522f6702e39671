import { EyrieError, type IceServer } from '@eyrie/contract'
import { limitBodySize } from '@eyrie/kit/body-limit'
import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import type { Sound } from '../sound/sound.ts'
import type { Stream } from '../stream/live-stream.ts'
import { attributeOf } from './sdp/sdp-offer.ts'
import type { WebRtc } from './webrtc.ts'
import type { WhepSession } from './whep-session.ts'

const SDP = 'application/sdp'
const ICE_FRAGMENT = 'application/trickle-ice-sdpfrag'
const MOST_SDP_BYTES = 64 << 10

/**
 * WHEP (draft-ietf-wish-whep, over RFC 9725): a viewer posts an SDP offer and is answered with the stream. `X-Epoch` and
 * `X-Pts` say at which stream time he comes in; RTP timestamps are the pts modulo 2³², so each frame's pts is the one
 * nearest to those before it; those of sound are the same by a clock of 48 kHz. With `?transcode=false` a stream that WebRTC cannot carry as it is is refused with 406.
 */
export function whepRoutes(
  app: Hono<{ Bindings: HttpBindings }>,
  webrtc: WebRtc,
  streamOf: (id: string, form?: { transcoded: boolean }) => Promise<Stream>,
  soundOf: (id: string) => Sound | undefined,
): void {
  const limit = limitBodySize(
    MOST_SDP_BYTES,
    () => new EyrieError('size', `the SDP has more than ${MOST_SDP_BYTES} bytes`),
  )
  /** With B-frames it is transcoded, unless the viewer has other ways to see it as it is. */
  async function carried(c: Context): Promise<Stream> {
    const id = c.req.param('id') ?? ''
    const stream = await streamOf(id)
    if (webrtc.carries(stream) || c.req.query('transcode') === 'false') return stream
    return streamOf(id, { transcoded: true })
  }

  const sessionOf = (c: Context) => webrtc.session(c.req.param('session') ?? '')

  app.options('/streams/:id/whep', c => {
    tellIceServers(c, webrtc.settings.ice_servers)
    return c.body(null, 204, { 'Accept-Post': SDP, Allow: 'OPTIONS, POST' })
  })

  app.post('/streams/:id/whep', limit, async c => {
    expectType(c, SDP)
    const stream = await carried(c)
    const session = await webrtc.open(stream, soundOf(c.req.param('id')), await c.req.text())
    // Whoever has left meanwhile learns of no session that he could end.
    if (c.req.raw.signal.aborted) session.close()
    const { epoch } = stream.info()!
    tellIceServers(c, webrtc.settings.ice_servers)
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
    const session = sessionOf(c)
    expectType(c, ICE_FRAGMENT)
    const fragment = await c.req.text()
    const iceUsername = attributeOf(fragment, 'ice-ufrag')
    if (!iceUsername) throw new EyrieError('syntax', 'the SDP fragment lacks a=ice-ufrag')
    const isRestart = session.isRestart(iceUsername)
    expectMatch(c, session, isRestart)
    // Without a restart these are candidates of the viewer's, and the server takes them from where they come from.
    if (!isRestart) return c.body(null, 204)
    const restarted = await session.restartIce(iceUsername)
    return c.body(restarted, 200, { 'Content-Type': ICE_FRAGMENT, ETag: session.etag() })
  })

  app.delete('/streams/:id/whep/:session', c => {
    sessionOf(c).close()
    return c.body(null, 200)
  })
}

/** RFC 9725, 4.4: one per address, with the credentials that it wants. */
function tellIceServers(c: Context, servers: readonly IceServer[]) {
  for (const { urls, username, credential } of servers) {
    const secret = [
      ...(username ? [`username=${quoted(username)}`] : []),
      ...(credential ? [`credential=${quoted(credential)}`, 'credential-type="password"'] : []),
    ]
    for (const url of urls)
      c.header('Link', [`<${url}>`, 'rel="ice-server"', ...secret].join('; '), { append: true })
  }
}

const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

function expectType(c: Context, type: string) {
  const sent = c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()
  if (sent !== type) throw new EyrieError('type', `send Content-Type: ${type}`)
}

function expectMatch(c: Context, session: WhepSession, isRestart: boolean) {
  const match = c.req.header('If-Match')
  if (!match) {
    throw new EyrieError('precondition', 'send If-Match with the ETag, or * for an ICE restart', {
      status: 428,
    })
  }
  if (match !== session.etag() && !(isRestart && match === '*')) {
    throw new EyrieError('precondition', `the session's ETag is ${session.etag()}`)
  }
}
