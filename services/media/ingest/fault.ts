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

/** An address as it may be shown: without user and password, and without the parameters that may hold them as well. */
export function withoutCredentials(address: string): string {
  const shown = address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1')
  return /^(rtsp|http)s?:/i.test(shown) ? shown.replace(/\?.*/, '') : shown
}
