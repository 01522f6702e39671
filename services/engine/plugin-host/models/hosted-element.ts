import type { ViewSpec } from '@eyrie/contract/view'
import type { Element } from '@eyrie/element'
import type { OpenedElement } from '../protocol/remote-element.ts'

/**
 * An element as a channel runs it. On the main thread, it has no state that others can
 * read, and no debugger.
 */
export interface HostedElement extends Element, Partial<Omit<OpenedElement, keyof Element>> {
  /** The view from which the engine cuts regions for the models of the element. */
  readonly modelView?: ViewSpec
}
