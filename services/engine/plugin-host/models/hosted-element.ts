import type { ViewSpec } from '@eyrie/contract/view'
import type { Element } from '@eyrie/element'
import type { RemoteState } from '../protocol/remote-element.ts'

/** An element as a channel runs it. */
export interface HostedElement extends Element {
  /** The view from which the engine cuts regions for the models of the element. */
  readonly modelView?: ViewSpec
  /** What the element remembers. Undefined if it runs on the main thread. */
  readonly remoteState?: RemoteState
}
