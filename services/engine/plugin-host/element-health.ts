/** An element (a step of a pipeline) has failed on a channel, or processes frames again. */
export interface ElementHealth {
  plugin: string
  version: string
  channel: number
  element: string
  /** Why it has failed; undefined if it processes frames again, or has ended. */
  failure: string | undefined
}
