/** Why a source does not play, in words for the person who set it up: what, where, and what to do. */
export class SourceFault extends Error {
  /** Whether waiting may help without anybody's doing: a camera comes back, a broken file does not. */
  readonly transient: boolean

  constructor(reason: string, options: { transient: boolean; cause?: unknown }) {
    super(reason, { cause: options.cause })
    this.name = 'Fault'
    this.transient = options.transient
  }
}
