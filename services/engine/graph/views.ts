import type { ViewSpec } from '@eyrie/contract/view'
import { viewKey } from '../media/view-key.ts'

/** The cheapest way to learn that there is a new frame, for a channel whose elements read no picture. */
const tick: ViewSpec = {
  width: 16,
  height: 16,
  multiple_of: 1,
  format: 'GRAY8',
  letterbox: false,
  fill: 0,
}

/** The views that a channel asks for: those of its elements, each once, and at least one. */
export function channelViews(views: readonly ViewSpec[]): ViewSpec[] {
  return distinct(views.length > 0 ? views : [tick])
}

/** Each view once. */
export function distinct(views: readonly ViewSpec[]): ViewSpec[] {
  return [...new Map(views.map(view => [viewKey(view), view])).values()]
}
