import type { ViewSpec } from '@eyrie/contract/view'

/** Equal views have equal keys, so that channels of one source share them. */
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
