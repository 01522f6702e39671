import type { ErrorBody } from '@eyrie/contract/errors'
import type { StreamMoment } from './live-player.ts'

/** A viewer's connection to media, made by WHEP. */
export interface WhepConnection {
  readonly peer: RTCPeerConnection
  readonly receiver: RTCRtpReceiver
  /** That of the sound, if it was asked for. */
  readonly soundReceiver: RTCRtpReceiver | undefined
  /** When the stream was joined, about. */
  readonly joined: StreamMoment
  /** Whether media still knows of it, whatever has become of the packets. */
  isKnown(): Promise<boolean>
  close(): void
}

/** Media answered that it has nothing for this viewer, however often he asks. */
export class Refusal extends Error {}

export interface WhepOptions {
  /** Whether the sound is asked for, too. */
  sounding: boolean
  onTrack(track: MediaStreamTrack): void
  signal: AbortSignal
}

/**
 * Posts an offer to the resource at `path`. Throws an Error whose message can be shown to people, a Refusal where asking
 * again is in vain.
 */
export async function connectByWhep(
  path: string,
  { sounding, onTrack, signal }: WhepOptions,
): Promise<WhepConnection> {
  const options = await ask(path, { method: 'OPTIONS', signal })
  const peer = new RTCPeerConnection({ iceServers: iceServersOf(options.headers.get('link')) })
  try {
    const receive = (kind: string) => peer.addTransceiver(kind, { direction: 'recvonly' }).receiver
    const receiver = receive('video')
    const soundReceiver = sounding ? receive('audio') : undefined
    peer.ontrack = ({ track }) => onTrack(track)
    await peer.setLocalDescription()
    // The candidates of this side need not be waited for: media learns them from where packets come from.
    const { sdp } = peer.localDescription!
    const answer = await ask(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/sdp' },
      body: sdp,
      signal,
    })
    const resource = answer.headers.get('location')!
    const etag = answer.headers.get('etag')!
    await peer.setRemoteDescription({ type: 'answer', sdp: await answer.text() })
    return {
      peer,
      receiver,
      soundReceiver,
      joined: { epoch: Number(answer.headers.get('x-epoch')), pts: Number(answer.headers.get('x-pts')) },
      async isKnown() {
        const unchanged = /^a=ice-ufrag:.*$/m.exec(sdp)![0].trim()
        const response = await fetch(resource, {
          method: 'PATCH',
          headers: { 'Content-Type': 'application/trickle-ice-sdpfrag', 'If-Match': etag },
          body: `${unchanged}\r\n`,
        })
        return response.ok
      },
      close() {
        peer.close()
        // Where this does not arrive, media notices by itself that nobody is there any more.
        fetch(resource, { method: 'DELETE', keepalive: true }).catch(() => {})
      },
    }
  } catch (error) {
    peer.close()
    throw error
  }
}

async function ask(path: string, init: RequestInit): Promise<Response> {
  const response = await fetch(path, init).catch(cause => {
    throw new Error('the appliance is not reachable', { cause })
  })
  if (response.ok) return response
  const error: Partial<ErrorBody> = await response.json().catch(() => ({}))
  const reason = error.reason ?? `the appliance answered ${response.status}`
  throw response.status < 500 ? new Refusal(reason) : new Error(reason)
}

/** STUN and TURN servers of a Link header: `<turn:…>; rel="ice-server"; username="…"; credential="…"`, by commas. */
export function iceServersOf(link: string | null): RTCIceServer[] {
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
