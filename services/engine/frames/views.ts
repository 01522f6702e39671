import { minimalView, type ViewSpec } from '@eyrie/contract/view'

/** Identifies a view of a source. Channels that request equal views share one. */
export function viewKey({
  width,
  height,
  scale,
  multiple_of,
  format,
  quality,
  letterbox,
  fill,
}: ViewSpec): string {
  const size = scale === undefined ? `${width ?? ''}x${height ?? ''}` : `${scale}`
  return `${format}${quality ?? ''}-${size}-${multiple_of}-${letterbox ? `box${fill}` : 'stretch'}`
}

/** The views that the elements of a channel read, without duplicates. Elements that read no picture get the tick view. */
export function toChannelViews(views: readonly ViewSpec[]): ViewSpec[] {
  return removeDuplicateViews(views.length > 0 ? views : [minimalView])
}

export function removeDuplicateViews(views: readonly ViewSpec[]): ViewSpec[] {
  return [...new Map(views.map(view => [viewKey(view), view])).values()]
}
