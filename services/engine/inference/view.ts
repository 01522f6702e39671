import type { ModelCard } from '@eyrie/contract/model'
import type { ViewSpec } from '@eyrie/contract/view'
import type { PictureSize } from '@eyrie/element'

const formats = {
  nchw: { rgb: 'RGBP', bgr: 'BGRP' },
  nhwc: { rgb: 'RGB', bgr: 'BGR' },
} as const

/** The pixel format that a model reads. */
export const formatOf = ({ layout, color }: ModelCard['input']): ViewSpec['format'] => formats[layout][color]

/**
 * The view that a model reads. A model of one size gets that size, whatever was asked for; one that takes any gets the
 * size asked for, or its own width with a height that follows the picture's shape.
 */
export function viewOf(input: ModelCard['input'], size?: PictureSize): ViewSpec {
  const { width, height, dynamic, multiple_of, fill } = input
  const common = { format: formatOf(input), letterbox: true, fill }
  if (!dynamic) return { ...common, width, height, multiple_of: 1 }
  if (!size) return { ...common, width, multiple_of }
  if ('scale' in size) return { ...common, scale: size.scale, multiple_of }
  const rounded = (pixels: number) => Math.ceil(pixels / multiple_of) * multiple_of
  return { ...common, width: rounded(size.width), height: rounded(size.height), multiple_of }
}

/** Why a ring of this shape cannot feed the model; undefined if it can. */
export function misfitOf(
  input: ModelCard['input'],
  ring: { width: number; height: number; format: string; payloadSize: number },
): string | undefined {
  const { width, height, format, payloadSize } = ring
  const is = `the view is ${width}x${height} ${format}`
  if (format !== formatOf(input)) return `${is}, but the model reads ${formatOf(input)}`
  if (payloadSize !== 3 * width * height) return `${is} of ${payloadSize} bytes, not ${3 * width * height}`
  if (input.dynamic) {
    const step = input.multiple_of
    return width % step || height % step ? `${is}, but the model needs multiples of ${step}` : undefined
  }
  if (width !== input.width || height !== input.height)
    return `${is}, but the model reads only ${input.width}x${input.height}`
  return undefined
}
