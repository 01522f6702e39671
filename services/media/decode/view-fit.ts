import type { ViewSpec } from '@eyrie/contract'

export interface Size {
  width: number
  height: number
}

export interface Rectangle extends Size {
  x: number
  y: number
}

/** Size of a view in pixels, and the rectangle of the view that the picture covers. */
export interface Fit extends Size {
  content: Rectangle
}

/**
 * Calculates the size of a view, the form in which readers request the pictures of a source,
 * and where the picture is in it. With a letterbox, the picture keeps its aspect ratio and has
 * equal padding on both sides; otherwise it is stretched to the whole view. The size of the
 * picture is in square pixels.
 */
export function fitView(spec: ViewSpec, picture: Size): Fit {
  const box = calculateBox(spec, picture)
  if (!spec.letterbox) return { ...box, content: { x: 0, y: 0, ...box } }

  // I420 has one chroma sample per two pixels.
  const step = spec.format === 'I420' ? 2 : 1
  const scale = Math.min(box.width / picture.width, box.height / picture.height)
  const width = roundWithin(picture.width * scale, box.width, step)
  const height = roundWithin(picture.height * scale, box.height, step)
  // A JPEG has no padding: it is as large as the scaled picture.
  if (spec.format === 'JPEG') return { width, height, content: { x: 0, y: 0, width, height } }

  const x = roundDown((box.width - width) / 2, step)
  const y = roundDown((box.height - height) / 2, step)
  return { ...box, content: { x, y, width, height } }
}

/** Returns the requested size. A missing side follows from the picture's aspect ratio. */
function calculateBox(spec: ViewSpec, picture: Size): Size {
  const { width, height, scale = 1, multiple_of: multipleOf } = spec
  if (width && height) return { width, height }
  if (width) return { width, height: roundUp((width * picture.height) / picture.width, multipleOf) }
  if (height) {
    return { width: roundUp((height * picture.width) / picture.height, multipleOf), height }
  }
  return {
    width: roundUp(picture.width * scale, multipleOf),
    height: roundUp(picture.height * scale, multipleOf),
  }
}

function roundWithin(pixels: number, limit: number, step: number): number {
  const rounded = Math.round(pixels / step) * step
  return Math.min(Math.max(rounded, step), limit)
}

const roundUp = (pixels: number, step: number) =>
  Math.ceil(Math.max(1, Math.round(pixels)) / step) * step
const roundDown = (pixels: number, step: number) => Math.floor(pixels / step) * step
