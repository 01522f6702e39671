/**
 * The reason why a source does not play. The message is shown to the user: what is wrong with which
 * address, and what to do.
 */
export class SourceFault extends Error {
  /**
   * Whether the source may recover by itself. A camera may come back online, whereas a
   * broken file stays broken.
   */
  readonly transient: boolean

  constructor(reason: string, options: { transient: boolean; cause?: unknown }) {
    super(reason, { cause: options.cause })
    this.name = 'SourceFault'
    this.transient = options.transient
  }
}
