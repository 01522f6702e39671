import { request } from '../../api/api-request.ts'
import type { StreamTime } from '../../video/metadata-buffer.ts'

/** A parameter of a link: name and quoted value, which may contain `\"` (RFC 8288, section 3). */
const PARAMETER = /([\w-]+)="((?:[^"\\]|\\.)*)"/g
/** A link: its target in angle brackets, and its parameters, each after a semicolon. */
const LINK = /<([^>]*)>((?:\s*;\s*[\w-]+="(?:[^"\\]|\\.)*")*)/g
/** In a broken network, packets are lost without an error, so a request would wait forever. */
const ALIVE_TIMEOUT_MS = 5_000

/**
 * A WebRTC connection to the media service, negotiated with WHEP (WebRTC-HTTP Egress
 * Protocol, an IETF draft).
 */
export interface WhepConnection {
  readonly videoReceiver: RTCRtpReceiver
  /** Undefined if sound was not requested. */
  readonly soundReceiver: RTCRtpReceiver | undefined
  /** The approximate position of the stream at the time of the answer. */
  readonly startTime: StreamTime
  /**
   * Returns whether the media service still has this connection. If it has not, the transport may
   * nevertheless appear to be connected. Throws if there is no response within a few seconds.
   * Calls while a request is pending share its result.
   */
  isAlive(): Promise<boolean>
  close(): void
}

export interface WhepOptions {
  withSound: boolean
  onTrack(track: MediaStreamTrack): void
  signal: AbortSignal
}

/**
 * Opens a connection: posts an offer (a description of the media that this browser accepts) to the
 * WHEP resource at `path`, and applies the answer. Throws `ApiError` for an error response.
 */
export async function connectWhep(
  path: string,
  { withSound, onTrack, signal }: WhepOptions,
): Promise<WhepConnection> {
  const options = await request(path, { method: 'OPTIONS', signal })
  const peer = new RTCPeerConnection({ iceServers: parseIceServers(options.headers.get('link')) })

  try {
    const addReceiver = (kind: 'video' | 'audio') =>
      peer.addTransceiver(kind, { direction: 'recvonly' }).receiver
    const videoReceiver = addReceiver('video')
    const soundReceiver = withSound ? addReceiver('audio') : undefined
    peer.ontrack = ({ track }) => onTrack(track)
    await peer.setLocalDescription()

    // The offer needs no local ICE candidates: the media service learns them from incoming packets.
    const { sdp: offer } = peer.localDescription!
    const { answer, session, startTime } = await postOffer(path, offer, signal)
    await peer.setRemoteDescription({ type: 'answer', sdp: answer })
    let pendingCheck: Promise<boolean> | undefined

    return {
      videoReceiver,
      soundReceiver,
      startTime,
      isAlive() {
        pendingCheck ??= isSessionAlive(session, offer).finally(() => {
          pendingCheck = undefined
        })
        return pendingCheck
      },
      close() {
        peer.close()
        // If this request is lost, the media service detects the closed connection by itself.
        fetch(session.url, { method: 'DELETE', keepalive: true }).catch(() => {})
      },
    }
  } catch (error) {
    peer.close()
    throw error
  }
}

/** What the media service responds to an offer. */
interface OfferResponse {
  /** Description of the media that the service will send, as SDP. */
  answer: string
  session: WhepSession
  startTime: StreamTime
}

async function postOffer(path: string, offer: string, signal: AbortSignal): Promise<OfferResponse> {
  const response = await request(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/sdp' },
    body: offer,
    signal,
  })
  const { headers } = response
  return {
    answer: await response.text(),
    // WHEP requires both headers.
    session: { url: headers.get('location')!, etag: headers.get('etag')! },
    startTime: { epoch: Number(headers.get('x-epoch')), pts: Number(headers.get('x-pts')) },
  }
}

/** The resource that represents the connection at the media service. */
interface WhepSession {
  url: string
  etag: string
}

/**
 * Sends a PATCH that repeats the ICE user name of the offer. The request changes nothing, and fails
 * if the session does not exist.
 */
async function isSessionAlive({ url, etag }: WhepSession, offer: string): Promise<boolean> {
  // Every offer contains this line.
  const userName = /^a=ice-ufrag:.*$/m.exec(offer)![0].trim()
  const response = await fetch(url, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/trickle-ice-sdpfrag', 'If-Match': etag },
    body: `${userName}\r\n`,
    signal: AbortSignal.timeout(ALIVE_TIMEOUT_MS),
  })
  return response.ok
}

/**
 * Parses the STUN and TURN servers in a Link header:
 * `<turn:…>; rel="ice-server"; username="…"; credential="…", …`.
 */
export function parseIceServers(link: string | null): RTCIceServer[] {
  const servers: RTCIceServer[] = []
  for (const [, urls = '', parameters = ''] of (link ?? '').matchAll(LINK)) {
    const { rel, username, credential } = parseParameters(parameters)
    if (rel !== 'ice-server') continue
    servers.push({ urls, ...(username && { username }), ...(credential && { credential }) })
  }
  return servers
}

function parseParameters(text: string): Partial<Record<string, string>> {
  const parameters: Partial<Record<string, string>> = {}
  for (const [, name = '', quoted = ''] of text.matchAll(PARAMETER)) {
    parameters[name] = quoted.replace(/\\(.)/g, '$1')
  }
  return parameters
}
