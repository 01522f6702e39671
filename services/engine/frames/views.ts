import { MINIMAL_VIEW, type ViewSpec } from '@eyrie/contract/view'

/**
 * Returns a text that is equal for equal views. A view is the picture of a source in one size
 * and pixel format: the media service scales and converts each frame once per view, and all
 * channels that need the same view share it. The text is also the name of the view in messages
 * to the media service.
 */
export function viewKey(view: ViewSpec): string {
  const { width = '', height = '', quality = '' } = view
  const encoding = `${view.format}${quality}`
  const size = view.scale === undefined ? `${width}x${height}` : String(view.scale)
  const fitting = view.letterbox ? `box${view.fill}` : 'stretch'
  return `${encoding}-${size}-${view.multiple_of}-${fitting}`
}

/** Returns a text that is equal for equal views, in any order. */
export const viewsKey = (views: readonly ViewSpec[]): string => views.map(viewKey).sort().join(' ')

/**
 * Returns the views that a channel needs. A channel without a view gets the minimal view, which
 * announces its frames.
 */
export function toChannelViews(views: readonly ViewSpec[]): ViewSpec[] {
  return removeDuplicateViews(views.length > 0 ? views : [MINIMAL_VIEW])
}

export function removeDuplicateViews(views: readonly ViewSpec[]): ViewSpec[] {
  const viewsByKey = new Map(views.map(view => [viewKey(view), view]))
  return [...viewsByKey.values()]
}
