import type { BBox } from '@eyrie/contract'

/** BGRx, four bytes a pixel, rows packed. */
export interface Pixels {
  data: Uint8Array<ArrayBuffer>
  width: number
  height: number
}

const BYTES = 4
/** What is hidden is no more than so many blocks long: nobody is recognised by that. */
const BLOCKS = 8
/** A detector's box may cut off an edge. */
const MARGIN = 0.1

/** Makes regions (0..1 of the picture) unrecognisable: each of their blocks becomes its mean colour. Changes `data`. */
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
    for (let v = top; v < bottom; v += block)
      for (let u = left; u < right; u += block)
        level(data, width, u, v, Math.min(u + block, right), Math.min(v + block, bottom))
  }
  return data
}

function level(data: Uint8Array, width: number, left: number, top: number, right: number, bottom: number) {
  const count = (right - left) * (bottom - top)
  for (let colour = 0; colour < 3; colour++) {
    let sum = 0
    for (let v = top; v < bottom; v++)
      for (let u = left; u < right; u++) sum += data[(v * width + u) * BYTES + colour]!
    const mean = Math.round(sum / count)
    for (let v = top; v < bottom; v++)
      for (let u = left; u < right; u++) data[(v * width + u) * BYTES + colour] = mean
  }
}

const clamp = (value: number, most: number) => Math.min(Math.max(value, 0), most)
