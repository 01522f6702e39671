import type { Caps, Fraction, Value } from '../node-gst/index.ts'

/**
 * The picture format of a video stream, from its caps, which is GStreamer's term for the
 * description of a format.
 */
export interface Picture {
  /** `h264`, `h265`, `jpeg`, `mpeg4`, ... */
  codec: string
  /** Coded size in pixels. */
  width: number
  height: number
  /** Ratio of a pixel's width to its height. */
  pixelAspect: Fraction
  /** Frames per second; undefined if the stream does not declare them. */
  fps: number | undefined
}

/** Parses the caps of a video stream. Returns undefined if they do not contain the size. */
export function parsePicture(caps: Caps): Picture | undefined {
  const { width, height } = caps.fields
  if (typeof width !== 'number' || typeof height !== 'number') return undefined
  const rate = toFraction(caps.fields.framerate)
  return {
    codec: parseCodec(caps),
    width,
    height,
    pixelAspect: toFraction(caps.fields['pixel-aspect-ratio']) ?? { numerator: 1, denominator: 1 },
    fps: rate && rate.numerator > 0 ? rate.numerator / rate.denominator : undefined,
  }
}

/** Returns the codec. GStreamer describes all versions of MPEG with one name. */
function parseCodec({ name, fields }: Caps): string {
  if (name === 'video/mpeg') return fields.mpegversion === 4 ? 'mpeg4' : 'mpeg2'
  return name.replace(/^(video|image)\/(x-)?/, '')
}

/** Returns the display size of a picture, in square pixels. */
export function displaySize(picture: Pick<Picture, 'width' | 'height' | 'pixelAspect'>): {
  width: number
  height: number
} {
  const { numerator, denominator } = picture.pixelAspect
  return { width: Math.round((picture.width * numerator) / denominator), height: picture.height }
}

function toFraction(value: Value | undefined): Fraction | undefined {
  return value !== null && typeof value === 'object' && 'numerator' in value ? value : undefined
}
