import type { GstError } from '../../node-gst/index.ts'
import type { OpenContext } from '../origin/origin.ts'
import { explainUnreachable } from '../origin/reachability.ts'
import { SourceFault } from '../origin/source-fault.ts'
import type { ResponseHead } from './http-response.ts'
import type { HttpStream } from './http-stream.ts'

const UNAUTHORIZED_REASONS: Record<HttpStream['credentials'], string> = {
  token: "rejects the token: replace it in the source's address",
  password: "rejects the user name or password: correct them in the source's address",
  none: "requires authentication: add a user name and password, or a token, to the source's address",
}
/**
 * Media types of manifests. GStreamer must not follow them: `services/media/node-gst/src/addon.cc`
 * disables the elements.
 */
const MANIFEST_TYPE = /mpegurl|dash\+xml|vnd\.ms-sstr/

/**
 * Creates the fault of a stream that could not be opened, with the reason and a remedy for the
 * user. `response` is undefined if the server has sent none.
 */
export async function createHttpFault(
  error: GstError,
  { stream, response }: { stream: HttpStream; response: ResponseHead | undefined },
  context: Pick<OpenContext, 'egress' | 'signal'>,
): Promise<SourceFault> {
  const reason = response?.status
    ? explainResponse(response, stream, error)
    : await explainNoResponse(stream, context)
  return new SourceFault(`${stream.name} ${reason}`, { transient: true, cause: error })
}

async function explainNoResponse(
  stream: HttpStream,
  context: Pick<OpenContext, 'egress' | 'signal'>,
): Promise<string> {
  const unreachable = await explainUnreachable(stream, context)
  if (unreachable) return unreachable
  return "closes the connection without a response: check that host, port and path are those of the camera's video"
}

function explainResponse(
  { status, type }: ResponseHead,
  { credentials }: HttpStream,
  { message }: GstError,
): string {
  if (status === 401) return UNAUTHORIZED_REASONS[credentials]
  if (status === 403) {
    return 'denies access: grant this user the right to view the video, or use another user'
  }
  if (status === 404) return "has no stream at this path: compare the path with the camera's manual"
  if (status >= 300 && status < 400) {
    return 'redirects to another address, which is not followed: use the final address instead'
  }
  if (status >= 400) {
    return `responds with status ${status} (${message}): check the camera, it currently cannot provide video`
  }
  return explainPage(type)
}

/** Creates the fault of a server that responds with something other than video. */
export function createPageFault({ name }: HttpStream, { type }: ResponseHead): SourceFault {
  return new SourceFault(`${name} ${explainPage(type)}`, { transient: true })
}

function explainPage(type: string | undefined): string {
  const problem =
    type === 'text/html'
      ? `sends a web page (${type}) instead of video`
      : `sends no video (${type ?? 'of unknown type'})`
  return `${problem}: use the address of its video stream, which is in its manual`
}

/** Creates the fault of a stream that has sent no picture within the time limit. */
export function createSilenceFault(
  stream: HttpStream,
  limitMs: number,
  response: ResponseHead | undefined,
): SourceFault {
  const limit = `${limitMs / 1000} s`
  const reason = response?.status
    ? explainSilence(response, limit)
    : `has not responded for ${limit}: check the camera and the network to it`
  return new SourceFault(`${stream.name} ${reason}`, { transient: true })
}

function explainSilence({ type = 'unknown type' }: ResponseHead, limit: string): string {
  const problem = `responds (${type}), but has sent no picture for ${limit}`
  return `${problem}: check that this is the address of its video stream, and restart the camera if it is`
}

/** Creates the fault of a stream that was interrupted while it played. */
export function createDisconnectFault(cause: GstError, { name }: HttpStream): SourceFault {
  return new SourceFault(`${name} was interrupted: ${cause.message}`, { transient: true, cause })
}

/**
 * Returns the fault of a server that sends a manifest instead of video; undefined
 * for any other response.
 */
export function createManifestFault(
  { name }: HttpStream,
  { type }: ResponseHead,
): SourceFault | undefined {
  if (!MANIFEST_TYPE.test(type ?? '')) return undefined
  const problem = `sends an HLS, DASH or Smooth Streaming manifest (${type}), which may name any other server`
  return new SourceFault(`${name} ${problem}: use the address of a single stream, such as RTSP`, {
    transient: true,
  })
}
