import type { AddressObject } from '@eyrie/contract'
import type { GstError } from '../../node-gst/index.ts'
import type { OpenContext } from '../origin/origin.ts'
import { explainUnreachable } from '../origin/reachability.ts'
import { SourceFault } from '../origin/source-fault.ts'

/** The RTSP camera that has failed. */
export interface RtspCamera {
  /** The address without credentials. */
  name: string
  url: URL
  address: Pick<AddressObject, 'transport' | 'tls_insecure'>
  /** Whether the address contains a user name. */
  hasCredentials: boolean
  context: Pick<OpenContext, 'egress' | 'signal'>
}

const RESOURCE_ERROR = 'gst-resource-error-quark'
// Codes of GstResourceError.
const NOT_FOUND = 3
const OPEN_READ_WRITE = 7
const READ = 9
const NOT_AUTHORIZED = 15
/** Posted by `services/media/node-gst/src/redirect_guard.cc`. */
const REDIRECTED = 6

/** Explains an error of `rtspsrc` to the user. */
export async function createRtspFault(error: GstError, camera: RtspCamera): Promise<SourceFault> {
  const reason = await explain(error, camera)
  return new SourceFault(`${camera.name} ${reason}`, { transient: true, cause: error })
}

async function explain(
  error: GstError,
  { url, address, hasCredentials, context }: RtspCamera,
): Promise<string> {
  const resourceErrorCode = error.domain === RESOURCE_ERROR ? error.code : undefined
  switch (resourceErrorCode) {
    case NOT_AUTHORIZED:
      return hasCredentials
        ? "rejects the user name or password: correct them in the source's address"
        : "requires authentication: add a user name and password to the source's address"
    case REDIRECTED:
      return 'redirects to another host: use the final address instead'
    case NOT_FOUND:
      return "has no stream at this path: compare the path with the camera's manual"
    case OPEN_READ_WRITE: {
      const server = { url, tlsInsecure: address.tls_insecure ?? false }
      const reason = await explainUnreachable(server, context)
      return (
        reason ??
        'cannot be reached: check that the camera is on and that host and port are correct'
      )
    }
    case READ:
      return 'disconnected or does not respond: check that the camera is on, and restart it if it hangs'
  }

  if (/more transport protocols/.test(error.message)) {
    return `does not offer the transport ${address.transport ?? 'auto'}: set transport to auto or another value`
  }
  return `stopped: ${error.message}`
}
