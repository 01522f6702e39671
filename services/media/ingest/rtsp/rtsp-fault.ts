import type { AddressObject } from '@eyrie/contract'
import type { GstError } from '../../node-gst/index.ts'
import { explainUnreachable } from '../origin/reachability.ts'
import { SourceFault } from '../origin/source-fault.ts'

/** An RTSP camera that has been asked for its stream. */
export interface RtspCamera {
  /** Its address without credentials. */
  name: string
  url: URL
  address: Pick<AddressObject, 'transport' | 'tls_insecure'>
  /** Fires when it is no longer wanted. */
  signal: AbortSignal
}

const RESOURCE = 'gst-resource-error-quark'
const NOT_FOUND = 3
const OPEN_READ_WRITE = 7
const READ = 9
const NOT_AUTHORIZED = 15

/** What a camera's failure means. */
export async function createRtspFault(error: GstError, camera: RtspCamera): Promise<SourceFault> {
  return new SourceFault(`${camera.name} ${await reasonOf(error, camera)}`, { transient: true, cause: error })
}

async function reasonOf(error: GstError, { url, address, signal }: RtspCamera): Promise<string> {
  const code = error.domain === RESOURCE ? error.code : undefined
  if (code === NOT_AUTHORIZED)
    return "refuses the user name or password: correct them in the source's address"
  if (code === NOT_FOUND) return "knows no stream of this name: compare the path with the camera's manual"
  if (code === OPEN_READ_WRITE)
    return (
      (await explainUnreachable(url, address.tls_insecure ?? false, signal)) ??
      'cannot be reached: check that the camera is on and that host and port are right'
    )
  if (code === READ)
    return 'breaks off, or does not answer: check that it is on, and start it again if it hangs'
  if (/more transport protocols/.test(error.message))
    return `does not offer the transport ${address.transport ?? 'auto'}: choose auto, or another one`
  return `stopped: ${error.message}`
}
