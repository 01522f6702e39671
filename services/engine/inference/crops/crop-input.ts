import type { ModelCard } from '@eyrie/contract/model'
import type { BBox } from '@eyrie/contract/object'
import type { OwnModel } from '@eyrie/contract/plugin-inference'
import type { RingReader } from '../../frames/ring-reader.ts'
import { resample, type Size } from './resample.ts'

/** Cuts regions out of the pictures in a ring, and fits them to the input of a model. */

/** The input of a model that runs on regions, in pixels. */
export type CropInput = OwnModel['input']

const COLOURS = 3

/** A rectangle in pixels. */
export interface PixelRect extends Size {
  x: number
  y: number
}

/** Returns the whole pixels that a region covers, at least one. The region is inside of 0..1. */
export function toPixelRect({ x, y, w, h }: BBox, { width, height }: Size): PixelRect {
  const left = Math.min(Math.floor(x * width), width - 1)
  const top = Math.min(Math.floor(y * height), height - 1)
  const right = Math.min(Math.max(Math.ceil((x + w) * width), left + 1), width)
  const bottom = Math.min(Math.max(Math.ceil((y + h) * height), top + 1), height)
  return { x: left, y: top, width: right - left, height: bottom - top }
}

/** Returns the part of the input that a region of this size fills. */
export function placeCrop(crop: Size, { width, height, fit }: CropInput): PixelRect {
  if (fit === 'stretch') return { x: 0, y: 0, width, height }
  const scale = Math.min(width / crop.width, height / crop.height)
  const placed = {
    width: Math.max(1, Math.round(crop.width * scale)),
    height: Math.max(1, Math.round(crop.height * scale)),
  }
  return {
    x: Math.floor((width - placed.width) / 2),
    y: Math.floor((height - placed.height) / 2),
    ...placed,
  }
}

/** Copies a rectangle of frame `n`, whose pictures have the format RGB. */
export function readCrop(ring: RingReader, n: number, rect: PixelRect): Uint8Array | 'overwritten' {
  const { width } = ring.shape
  // Rows are contiguous, so that one system call reads all of them.
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

/** Returns the pixels of a crop, of this size in RGB, in the size, layout and order of colours of a model's input. */
export function fitCrop(
  crop: Uint8Array,
  size: Size,
  input: CropInput,
): { pixels: Uint8Array; placed: PixelRect } {
  const { width, height, layout, color, fill } = input
  const placed = placeCrop(size, input)
  const scaled = resample(crop, size, placed)
  const pixels = new Uint8Array(width * height * COLOURS).fill(fill)
  const [pixelStep, colourStep] = layout === 'nhwc' ? [COLOURS, 1] : [1, width * height]
  for (let y = 0; y < placed.height; y++) {
    for (let x = 0; x < placed.width; x++) {
      const from = (y * placed.width + x) * COLOURS
      const to = ((placed.y + y) * width + placed.x + x) * pixelStep
      for (let colour = 0; colour < COLOURS; colour++) {
        const target = color === 'rgb' ? colour : COLOURS - 1 - colour
        pixels[to + target * colourStep] = scaled[from + colour]!
      }
    }
  }
  return { pixels, placed }
}

/** The input of a model of the catalog on regions: its own size, with borders where the aspect ratio differs. */
export const toCropInput = (input: ModelCard['input']): CropInput => {
  const { dynamic, multiple_of, ...rest } = input
  return { ...rest, fit: 'letterbox' }
}
