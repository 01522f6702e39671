import { minimalView, type ViewSpec } from '@eyrie/contract/view'
import { viewKey } from '../media/view-key.ts'

/** The views that a channel asks for: those of its elements, each once, and at least one. */
export function channelViews(views: readonly ViewSpec[]): ViewSpec[] {
  return distinct(views.length > 0 ? views : [minimalView])
}

/** Each view once. */
export function distinct(views: readonly ViewSpec[]): ViewSpec[] {
  return [...new Map(views.map(view => [viewKey(view), view])).values()]
}
