import type { ViewSpec } from '@eyrie/contract'

export interface Rectangle {
  x: number
  y: number
  width: number
  height: number
}

/** A view's size in pixels, and where in it the picture lies. */
export interface Fit {
  width: number
  height: number
  content: Rectangle
}

/**
 * The size of a view of a picture that is `shown` so large (in square pixels), by the rules of ViewSpec. The padding
 * of a letterbox is shared by both sides.
 */
export function fitView(spec: ViewSpec, shown: { width: number; height: number }): Fit {
  const box = boxOf(spec, shown)
  if (!spec.letterbox) return { ...box, content: { x: 0, y: 0, ...box } }

  const step = spec.format === 'I420' ? 2 : 1
  const scale = Math.min(box.width / shown.width, box.height / shown.height)
  const width = within(shown.width * scale, box.width, step)
  const height = within(shown.height * scale, box.height, step)
  const x = roundDown((box.width - width) / 2, step)
  const y = roundDown((box.height - height) / 2, step)
  if (spec.format === 'JPEG') return { width, height, content: { x: 0, y: 0, width, height } }
  return { ...box, content: { x, y, width, height } }
}

function boxOf(spec: ViewSpec, shown: { width: number; height: number }) {
  const { width, height, scale = 1 } = spec
  const follow = (pixels: number) => roundUp(pixels, spec.multiple_of)
  if (width && height) return { width, height }
  if (width) return { width, height: follow((width * shown.height) / shown.width) }
  if (height) return { width: follow((height * shown.width) / shown.height), height }
  return { width: follow(shown.width * scale), height: follow(shown.height * scale) }
}

function within(pixels: number, limit: number, step: number): number {
  const rounded = Math.round(pixels / step) * step
  return Math.min(Math.max(rounded, step), limit)
}

const roundUp = (pixels: number, step: number) => Math.ceil(Math.max(1, Math.round(pixels)) / step) * step
const roundDown = (pixels: number, step: number) => Math.floor(pixels / step) * step
