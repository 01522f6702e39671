/** Why a source does not play, written for the person who configured it: what is wrong, where, and what to do. */
export class SourceFault extends Error {
  /** Whether the source may recover by itself: a camera may reconnect, a broken file does not. */
  readonly transient: boolean

  constructor(reason: string, options: { transient: boolean; cause?: unknown }) {
    super(reason, { cause: options.cause })
    this.name = 'SourceFault'
    this.transient = options.transient
  }
}
