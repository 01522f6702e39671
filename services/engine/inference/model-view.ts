import type { ModelCard } from '@eyrie/contract/model'
import type { ViewSpec } from '@eyrie/contract/view'
import type { PictureSize } from '@eyrie/element'

const PIXEL_FORMATS = {
  nchw: { rgb: 'RGBP', bgr: 'BGRP' },
  nhwc: { rgb: 'RGB', bgr: 'BGR' },
} as const

/** The pixel format that a model reads. */
export const toPixelFormat = ({ layout, color }: ModelCard['input']): ViewSpec['format'] =>
  PIXEL_FORMATS[layout][color]

/**
 * The view that a model reads. A model of fixed size gets that size regardless of `size`. A dynamic model gets `size`, or by
 * default the card's width and a height that preserves the aspect ratio.
 */
export function toModelView(input: ModelCard['input'], size?: PictureSize): ViewSpec {
  const { width, height, dynamic, multiple_of, fill } = input
  const common = { format: toPixelFormat(input), letterbox: true, fill }
  if (!dynamic) return { ...common, width, height, multiple_of: 1 }
  if (!size) return { ...common, width, multiple_of }
  if ('scale' in size) return { ...common, scale: size.scale, multiple_of }
  const roundUp = (pixels: number) => Math.ceil(pixels / multiple_of) * multiple_of
  return { ...common, width: roundUp(size.width), height: roundUp(size.height), multiple_of }
}

/** Explains why a ring of this shape cannot feed the model; undefined if it can. */
export function findRingMismatch(
  input: ModelCard['input'],
  ring: { width: number; height: number; format: string; payloadSize: number },
): string | undefined {
  const { width, height, format, payloadSize } = ring
  const view = `the view is ${width}x${height} ${format}`
  if (format !== toPixelFormat(input)) return `${view}, but the model reads ${toPixelFormat(input)}`
  if (payloadSize !== 3 * width * height) return `${view} of ${payloadSize} bytes, not ${3 * width * height}`
  if (input.dynamic) {
    const step = input.multiple_of
    return width % step || height % step ? `${view}, but the model needs multiples of ${step}` : undefined
  }
  if (width !== input.width || height !== input.height)
    return `${view}, but the model reads only ${input.width}x${input.height}`
  return undefined
}
