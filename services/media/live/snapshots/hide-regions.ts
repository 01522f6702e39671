import type { BBox } from '@eyrie/contract'

/** A picture in BGRx: four bytes per pixel, in unpadded rows. */
export interface Pixels {
  data: Uint8Array<ArrayBuffer>
  width: number
  height: number
}

/** Part of a picture in pixels. `right` and `bottom` are exclusive. */
interface Area {
  left: number
  top: number
  right: number
  bottom: number
}

const BYTES_PER_PIXEL = 4
/** Blue, green and red. The fourth byte of a pixel is unused. */
const COLOUR_CHANNELS = 3
/**
 * Number of blocks along the longer side of a hidden region, which is too few to recognize a face.
 */
const BLOCKS = 8
/**
 * Fraction by which regions are enlarged on each side, because the box of a detector may not
 * cover the whole object.
 */
const MARGIN = 0.1

/**
 * Pixelates regions of a picture: the pixels of each block get the mean colour of the block.
 * Coordinates of regions are fractions of the picture's size. Modifies and returns `data`.
 */
export function hideRegions(picture: Pixels, regions: readonly BBox[]): Uint8Array<ArrayBuffer> {
  for (const region of regions) {
    for (const block of splitIntoBlocks(toArea(region, picture))) fillWithMean(picture, block)
  }
  return picture.data
}

/** Converts a region to pixels, with a margin, and limits it to the picture. */
function toArea({ x, y, w, h }: BBox, { width, height }: Pixels): Area {
  return {
    left: clamp(Math.floor((x - w * MARGIN) * width), width),
    top: clamp(Math.floor((y - h * MARGIN) * height), height),
    right: clamp(Math.ceil((x + w * (1 + MARGIN)) * width), width),
    bottom: clamp(Math.ceil((y + h * (1 + MARGIN)) * height), height),
  }
}

/** Divides an area into squares. The squares at the right and bottom edges may be incomplete. */
function* splitIntoBlocks({ left, top, right, bottom }: Area): Generator<Area> {
  const longerSide = Math.max(right - left, bottom - top)
  const blockSize = Math.max(1, Math.ceil(longerSide / BLOCKS))

  for (let y = top; y < bottom; y += blockSize) {
    for (let x = left; x < right; x += blockSize) {
      yield {
        left: x,
        top: y,
        right: Math.min(x + blockSize, right),
        bottom: Math.min(y + blockSize, bottom),
      }
    }
  }
}

/** Sets all pixels of a block to their mean colour. */
function fillWithMean({ data, width }: Pixels, { left, top, right, bottom }: Area): void {
  const pixelCount = (right - left) * (bottom - top)
  for (let channel = 0; channel < COLOUR_CHANNELS; channel++) {
    let sum = 0
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) sum += data[(y * width + x) * BYTES_PER_PIXEL + channel]!
    }

    const mean = Math.round(sum / pixelCount)
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) data[(y * width + x) * BYTES_PER_PIXEL + channel] = mean
    }
  }
}

const clamp = (pixels: number, max: number) => Math.min(Math.max(pixels, 0), max)
