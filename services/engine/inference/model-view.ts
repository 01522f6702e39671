import type { ModelCard } from '@eyrie/contract/model'
import type { ViewSpec } from '@eyrie/contract/view'
import type { PictureSize } from '@eyrie/element'

const BYTES_PER_PIXEL = 3

/** The pixel format for each memory layout (planes or interleaved colours) and order of colours. */
const PIXEL_FORMATS = {
  nchw: { rgb: 'RGBP', bgr: 'BGRP' },
  nhwc: { rgb: 'RGB', bgr: 'BGR' },
} as const

/** Returns the pixel format that a model reads, according to the input on its model card. */
export const toPixelFormat = ({ layout, color }: ModelCard['input']): ViewSpec['format'] =>
  PIXEL_FORMATS[layout][color]

/**
 * Returns the view (size and pixel format of the pictures) that a model reads. A model of fixed
 * size ignores `size`. For a model of dynamic size, the default is the width on its card and the
 * height that preserves the aspect ratio.
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

/** Explains why a model cannot read the pictures of a ring (frame buffer); undefined if it can. */
export function findRingMismatch(
  input: ModelCard['input'],
  ring: { width: number; height: number; format: string; payloadSize: number },
): string | undefined {
  const { width, height, format, payloadSize } = ring
  const view = `the view is ${width}x${height} ${format}`

  const expectedFormat = toPixelFormat(input)
  if (format !== expectedFormat) return `${view}, but the model reads ${expectedFormat}`

  const expectedSize = BYTES_PER_PIXEL * width * height
  if (payloadSize !== expectedSize) return `${view} of ${payloadSize} bytes, not ${expectedSize}`

  if (input.dynamic) {
    const step = input.multiple_of
    const isMultiple = width % step === 0 && height % step === 0
    return isMultiple ? undefined : `${view}, but the model needs multiples of ${step}`
  }
  if (width !== input.width || height !== input.height) {
    return `${view}, but the model reads only ${input.width}x${input.height}`
  }
  return undefined
}
