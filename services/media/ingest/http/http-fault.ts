import type { GstError } from '../../node-gst/index.ts'
import { explainUnreachable } from '../origin/reachability.ts'
import { SourceFault } from '../origin/source-fault.ts'
import type { ResponseHead } from './http-response.ts'
import type { HttpStream } from './http-stream.ts'

const NOT_ACCEPTED: Record<HttpStream['credentials'], string> = {
  token: "refuses the token: write a valid one into the source's address",
  password: "refuses the user name or password: correct them in the source's address",
  none: "wants to know who asks: write user name and password, or a token, into the source's address",
}

/** What it means that a server's stream could not be looked into. */
export async function createHttpFault(
  error: GstError,
  stream: HttpStream,
  answer: ResponseHead | undefined,
  signal: AbortSignal,
): Promise<SourceFault> {
  const reason = answer?.status
    ? answerReason(answer.status, answer.type, stream, error)
    : ((await explainUnreachable(stream.url, stream.tlsInsecure, signal)) ??
      `hangs up without an answer: check that host, port and path are those of the camera's video`)
  return new SourceFault(`${stream.name} ${reason}`, { transient: true, cause: error })
}

function answerReason(
  status: number,
  type: string | undefined,
  { credentials }: HttpStream,
  { message }: GstError,
): string {
  if (status === 401) return NOT_ACCEPTED[credentials]
  if (status === 403) return 'forbids it: give this user the right to see the video, or write another one'
  if (status === 404) return "knows no stream of this name: compare the path with the camera's manual"
  if (status >= 300 && status < 400)
    return 'redirects elsewhere, where credentials are not sent: write the final address instead'
  if (status >= 400) return `answers ${status} ${message}: look at the camera, it cannot show its video now`
  return `sends no video (${type ?? 'of unknown type'}): write the address of its video stream, as its manual gives it`
}

/** Nothing has come for so long. */
export function createSilenceFault(
  stream: HttpStream,
  limitMs: number,
  answer: ResponseHead | undefined,
): SourceFault {
  const what = answer?.status ? 'has sent no picture' : 'has not answered'
  return new SourceFault(
    `${stream.name} ${what} for ${limitMs / 1000} s: check the camera and the network to it`,
    {
      transient: true,
    },
  )
}

/** What it means that a stream fails that has been seen to play. */
export function createDisconnectFault(cause: GstError, { name }: HttpStream): SourceFault {
  return new SourceFault(`${name} has broken off: ${cause.message}`, { transient: true, cause })
}
