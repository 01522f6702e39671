import type { GstError } from '../node-gst/index.ts'

/** Why a source does not play, in words for the person who set it up: what, where, and what to do. */
export class Fault extends Error {
  /** Whether waiting may help without anybody's doing: a camera comes back, a broken file does not. */
  readonly transient: boolean

  constructor(reason: string, options: { transient: boolean; cause?: unknown }) {
    super(reason, { cause: options.cause })
    this.name = 'Fault'
    this.transient = options.transient
  }
}

const RESOURCE = 'gst-resource-error-quark'
const NOT_FOUND = 3
const OPEN_READ_WRITE = 7
const NOT_AUTHORIZED = 15

/** What a camera's failure means. `camera` is its address without credentials. */
export function cameraFault(error: GstError, camera: string): Fault {
  const code = error.domain === RESOURCE ? error.code : undefined
  return new Fault(cameraReason(code, error, camera), { transient: true, cause: error })
}

function cameraReason(code: number | undefined, error: GstError, camera: string): string {
  if (code === NOT_AUTHORIZED)
    return `${camera} refuses the user name or password: correct them in the source's address`
  if (code === NOT_FOUND)
    return `${camera} knows no stream of this name: compare the path with the camera's manual`
  if (code === OPEN_READ_WRITE)
    return `${camera} cannot be reached: check that the camera is on and that host and port are right`
  return `${camera} stopped: ${error.message}`
}

/** An address as it may be shown: without user and password, and without the parameters that may hold them as well. */
export function withoutCredentials(address: string): string {
  const shown = address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1')
  return /^(rtsp|http)s?:/i.test(shown) ? shown.replace(/\?.*/, '') : shown
}
