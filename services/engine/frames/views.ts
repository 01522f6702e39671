import { minimalView, type ViewSpec } from '@eyrie/contract/view'

/** A key under which equal views are shared by the channels of a source. */
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

/** The views that the elements of a channel read, without duplicates; at least one. */
export function channelViews(views: readonly ViewSpec[]): ViewSpec[] {
  return distinctViews(views.length > 0 ? views : [minimalView])
}

/** Removes duplicates. */
export function distinctViews(views: readonly ViewSpec[]): ViewSpec[] {
  return [...new Map(views.map(view => [viewKey(view), view])).values()]
}
