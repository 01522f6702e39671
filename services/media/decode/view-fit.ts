import type { ViewSpec } from '@eyrie/contract'

export interface Size {
  width: number
  height: number
}

export interface Rectangle extends Size {
  x: number
  y: number
}

/** A view's size in pixels, and the rectangle in it that the picture covers. */
export interface Fit extends Size {
  content: Rectangle
}

/**
 * Fits a picture, whose size is in square pixels, into a view by the rules of `ViewSpec`. A letterbox has equal padding on
 * both sides.
 */
export function fitView(spec: ViewSpec, picture: Size): Fit {
  const box = calculateBox(spec, picture)
  if (!spec.letterbox) return { ...box, content: { x: 0, y: 0, ...box } }

  const step = spec.format === 'I420' ? 2 : 1
  const scale = Math.min(box.width / picture.width, box.height / picture.height)
  const width = roundWithin(picture.width * scale, box.width, step)
  const height = roundWithin(picture.height * scale, box.height, step)
  const x = roundDown((box.width - width) / 2, step)
  const y = roundDown((box.height - height) / 2, step)
  if (spec.format === 'JPEG') return { width, height, content: { x: 0, y: 0, width, height } }
  return { ...box, content: { x, y, width, height } }
}

function calculateBox(spec: ViewSpec, picture: Size): Size {
  const { width, height, scale = 1, multiple_of } = spec
  if (width && height) return { width, height }
  if (width) return { width, height: roundUp((width * picture.height) / picture.width, multiple_of) }
  if (height) return { width: roundUp((height * picture.width) / picture.height, multiple_of), height }
  return {
    width: roundUp(picture.width * scale, multiple_of),
    height: roundUp(picture.height * scale, multiple_of),
  }
}

function roundWithin(pixels: number, limit: number, step: number): number {
  const rounded = Math.round(pixels / step) * step
  return Math.min(Math.max(rounded, step), limit)
}

const roundUp = (pixels: number, step: number) => Math.ceil(Math.max(1, Math.round(pixels)) / step) * step
const roundDown = (pixels: number, step: number) => Math.floor(pixels / step) * step
