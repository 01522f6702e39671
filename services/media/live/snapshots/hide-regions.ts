import type { BBox } from '@eyrie/contract'

/** A picture in BGRx: four bytes per pixel, packed rows. */
export interface Pixels {
  data: Uint8Array<ArrayBuffer>
  width: number
  height: number
}

const BYTES_PER_PIXEL = 4
/** Blocks along the longer side of a hidden region: too few to recognise a face. */
const BLOCKS = 8
/** Regions are enlarged by this fraction on each side, because a detector's box may cut off an edge. */
const MARGIN = 0.1

/** Pixelates regions (0..1 of the picture): each block gets its mean colour. Modifies and returns `data`. */
export function hideRegions(
  { data, width, height }: Pixels,
  regions: readonly BBox[],
): Uint8Array<ArrayBuffer> {
  for (const { x, y, w, h } of regions) {
    const left = clamp(Math.floor((x - w * MARGIN) * width), width)
    const right = clamp(Math.ceil((x + w * (1 + MARGIN)) * width), width)
    const top = clamp(Math.floor((y - h * MARGIN) * height), height)
    const bottom = clamp(Math.ceil((y + h * (1 + MARGIN)) * height), height)
    const block = Math.max(1, Math.ceil(Math.max(right - left, bottom - top) / BLOCKS))
    for (let v = top; v < bottom; v += block) {
      for (let u = left; u < right; u += block)
        fillWithMean(data, width, u, v, Math.min(u + block, right), Math.min(v + block, bottom))
    }
  }
  return data
}

function fillWithMean(
  data: Uint8Array,
  width: number,
  left: number,
  top: number,
  right: number,
  bottom: number,
) {
  const count = (right - left) * (bottom - top)
  for (let channel = 0; channel < 3; channel++) {
    let sum = 0
    for (let v = top; v < bottom; v++) {
      for (let u = left; u < right; u++) sum += data[(v * width + u) * BYTES_PER_PIXEL + channel]!
    }
    const mean = Math.round(sum / count)
    for (let v = top; v < bottom; v++) {
      for (let u = left; u < right; u++) data[(v * width + u) * BYTES_PER_PIXEL + channel] = mean
    }
  }
}

const clamp = (value: number, max: number) => Math.min(Math.max(value, 0), max)
