import { request } from '../../api/api-request.ts'
import type { StreamTime } from '../../video/metadata-buffer.ts'

/** A WebRTC connection to media, negotiated with WHEP (WebRTC-HTTP Egress Protocol). */
export interface WhepConnection {
  readonly videoReceiver: RTCRtpReceiver
  /** Undefined if sound was not requested. */
  readonly soundReceiver: RTCRtpReceiver | undefined
  /** The approximate position of the stream when the connection was made. */
  readonly startTime: StreamTime
  /** Returns false if media has no such connection, even if the transport is still connected. */
  isAlive(): Promise<boolean>
  close(): void
}

export interface WhepOptions {
  withSound: boolean
  onTrack(track: MediaStreamTrack): void
  signal: AbortSignal
}

/** Posts an offer to the WHEP resource at `path`. Throws `ApiError` for an error response. */
export async function connectWhep(
  path: string,
  { withSound, onTrack, signal }: WhepOptions,
): Promise<WhepConnection> {
  const options = await request(path, { method: 'OPTIONS', signal })
  const peer = new RTCPeerConnection({ iceServers: parseIceServers(options.headers.get('link')) })
  try {
    const addReceiver = (kind: string) => peer.addTransceiver(kind, { direction: 'recvonly' }).receiver
    const videoReceiver = addReceiver('video')
    const soundReceiver = withSound ? addReceiver('audio') : undefined
    peer.ontrack = ({ track }) => onTrack(track)
    await peer.setLocalDescription()
    // No need to wait for local candidates: media learns them from incoming packets.
    const { sdp } = peer.localDescription!
    const answer = await request(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp' },
      body: sdp,
      signal,
    })
    const resource = answer.headers.get('location')!
    const etag = answer.headers.get('etag')!
    await peer.setRemoteDescription({ type: 'answer', sdp: await answer.text() })
    return {
      videoReceiver,
      soundReceiver,
      startTime: { epoch: Number(answer.headers.get('x-epoch')), pts: Number(answer.headers.get('x-pts')) },
      async isAlive() {
        // A PATCH that repeats the current ICE credentials changes nothing.
        const credentials = /^a=ice-ufrag:.*$/m.exec(sdp)![0].trim()
        const response = await fetch(resource, {
          method: 'PATCH',
          headers: { 'Content-Type': 'application/trickle-ice-sdpfrag', 'If-Match': etag },
          body: `${credentials}\r\n`,
        })
        return response.ok
      },
      close() {
        peer.close()
        // If this request is lost, media detects the closed connection by itself.
        fetch(resource, { method: 'DELETE', keepalive: true }).catch(() => {})
      },
    }
  } catch (error) {
    peer.close()
    throw error
  }
}

/** Parses the STUN and TURN servers of a Link header: `<turn:…>; rel="ice-server"; username="…"; credential="…", …`. */
export function parseIceServers(link: string | null): RTCIceServer[] {
  const links = [...(link ?? '').matchAll(/<([^>]*)>((?:\s*;\s*[\w-]+="(?:[^"\\]|\\.)*")*)/g)]
  return links.flatMap(([, urls = '', text = '']) => {
    const parameters = Object.fromEntries(
      [...text.matchAll(/([\w-]+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [
        name,
        value!.replace(/\\(.)/g, '$1'),
      ]),
    )
    if (parameters.rel !== 'ice-server') return []
    const { username, credential } = parameters
    return [{ urls, ...(username && { username }), ...(credential && { credential }) }]
  })
}
