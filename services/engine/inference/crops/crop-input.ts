import type { ModelCard } from '@eyrie/contract/model'
import type { BBox } from '@eyrie/contract/object'
import type { OwnModel } from '@eyrie/contract/plugin-inference'
import type { RingReader } from '../../frames/ring-reader.ts'
import { resample, type Size } from './resample.ts'

/** Cuts regions out of the pictures in a ring, and fits them to the input of a model. */

/** The input of a model that runs on regions. Its size is in pixels. */
export type CropInput = OwnModel['input']

const COLOURS = 3

/** A rectangle in pixels. */
export interface PixelRect extends Size {
  x: number
  y: number
}

/**
 * Returns the whole pixels that a region of a picture of this size covers, at least one. The
 * region is inside of 0..1.
 */
export function toPixelRect({ x, y, w, h }: BBox, { width, height }: Size): PixelRect {
  const left = Math.min(Math.floor(x * width), width - 1)
  const top = Math.min(Math.floor(y * height), height - 1)
  const right = Math.min(Math.max(Math.ceil((x + w) * width), left + 1), width)
  const bottom = Math.min(Math.max(Math.ceil((y + h) * height), top + 1), height)
  return { x: left, y: top, width: right - left, height: bottom - top }
}

/** Copies a rectangle of frame `n` out of a ring with RGB pictures. */
export function readCrop(ring: RingReader, n: number, rect: PixelRect): Uint8Array | 'overwritten' {
  const { width } = ring.shape
  // Whole rows are contiguous, so that one system call reads them.
  const rows = new Uint8Array(width * rect.height * COLOURS)
  if (ring.readPart(n, rect.y * width * COLOURS, rows) === 'overwritten') return 'overwritten'
  if (rect.width === width) return rows

  const rowLength = rect.width * COLOURS
  const crop = new Uint8Array(rowLength * rect.height)
  for (let y = 0; y < rect.height; y++) {
    const start = (y * width + rect.x) * COLOURS
    crop.set(rows.subarray(start, start + rowLength), y * rowLength)
  }
  return crop
}

/**
 * Scales an RGB crop of this size to the input of a model. Returns the pixels in the layout and
 * order of colours of the input, and the part of the input that they fill.
 */
export function fitCrop(
  crop: Uint8Array,
  size: Size,
  input: CropInput,
): { pixels: Uint8Array; placed: PixelRect } {
  const { width, height, layout, color, fill } = input
  const placed = placeCrop(size, input)
  const scaled = resample(crop, size, placed)
  const pixels = new Uint8Array(width * height * COLOURS).fill(fill)
  // Distances in the input between two pixels, and between two colours of a pixel.
  const pixelStep = layout === 'nhwc' ? COLOURS : 1
  const colourStep = layout === 'nhwc' ? 1 : width * height
  for (let y = 0; y < placed.height; y++) {
    for (let x = 0; x < placed.width; x++) {
      const source = (y * placed.width + x) * COLOURS
      const target = ((placed.y + y) * width + placed.x + x) * pixelStep
      for (let colour = 0; colour < COLOURS; colour++) {
        const inputColour = color === 'rgb' ? colour : COLOURS - 1 - colour
        pixels[target + inputColour * colourStep] = scaled[source + colour]!
      }
    }
  }
  return { pixels, placed }
}

/**
 * Returns the part of the input that a crop of this size fills: all of it, or as much as
 * keeps the aspect ratio.
 */
export function placeCrop(crop: Size, { width, height, fit }: CropInput): PixelRect {
  if (fit === 'stretch') return { x: 0, y: 0, width, height }
  const scale = Math.min(width / crop.width, height / crop.height)
  const placedWidth = Math.max(1, Math.round(crop.width * scale))
  const placedHeight = Math.max(1, Math.round(crop.height * scale))
  return {
    x: Math.floor((width - placedWidth) / 2),
    y: Math.floor((height - placedHeight) / 2),
    width: placedWidth,
    height: placedHeight,
  }
}

/**
 * Returns the input with which a model of the catalog runs on regions: in its default size, with
 * borders around the region.
 */
export function toCropInput(input: ModelCard['input']): CropInput {
  const { dynamic: _dynamic, multiple_of: _multiple, ...rest } = input
  return { ...rest, fit: 'letterbox' }
}
