import type { Caps, Value } from '../node-gst/index.ts'

/** The picture that a stream's caps describe. */
export interface Picture {
  /** `h264`, `h265`, `jpeg`, ... */
  codec: string
  /** Coded size in pixels. */
  width: number
  height: number
  /** Shape of a pixel: width to height. */
  pixelAspect: { numerator: number; denominator: number }
  /** Frames a second, where the stream says so. */
  fps: number | undefined
}

/** Undefined while the caps do not say how large the picture is. */
export function parsePicture(caps: Caps): Picture | undefined {
  const { width, height } = caps.fields
  if (typeof width !== 'number' || typeof height !== 'number') return undefined
  const rate = fraction(caps.fields.framerate)
  return {
    codec: caps.name.replace(/^(video|image)\/(x-)?/, ''),
    width,
    height,
    pixelAspect: fraction(caps.fields['pixel-aspect-ratio']) ?? { numerator: 1, denominator: 1 },
    fps: rate && rate.numerator > 0 ? rate.numerator / rate.denominator : undefined,
  }
}

/** Size in square pixels, as the picture is to be seen. */
export function displaySize(picture: Pick<Picture, 'width' | 'height' | 'pixelAspect'>): {
  width: number
  height: number
} {
  const { numerator, denominator } = picture.pixelAspect
  return { width: Math.round((picture.width * numerator) / denominator), height: picture.height }
}

function fraction(value: Value | undefined): { numerator: number; denominator: number } | undefined {
  return value !== null && typeof value === 'object' && 'numerator' in value ? value : undefined
}
