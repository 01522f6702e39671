import { EyrieError } from '@eyrie/contract'
import { Transformer } from '@napi-rs/image'

/**
 * The first bytes of every JPEG file: the marker SOI and the start of the next marker
 * (ITU-T T.81, annex B).
 */
const JPEG_SIGNATURE = [0xff, 0xd8, 0xff]
/** Larger images could exhaust the memory while they are decoded. */
const MAX_PIXELS = 50_000_000
const QUALITY_PERCENT = 90

/**
 * Decodes a JPEG image, rotates it upright and encodes it again. The result has no metadata, such
 * as the place where a photograph was taken, and no other embedded content. Throws `EyrieError`:
 * `type` if the bytes are not a JPEG image, `size` if the image has too many pixels.
 */
export async function reencodeJpeg(bytes: Uint8Array): Promise<Uint8Array> {
  if (!JPEG_SIGNATURE.every((byte, index) => bytes[index] === byte)) throw notJpeg()
  try {
    const image = new Transformer(bytes)
    const { width, height } = await image.metadata()
    if (width * height > MAX_PIXELS) {
      throw new EyrieError(
        'size',
        `the image has ${width}×${height} pixels: send one of at most 50 million`,
      )
    }
    return await image.rotate().jpeg(QUALITY_PERCENT)
  } catch (cause) {
    throw cause instanceof EyrieError ? cause : notJpeg(cause)
  }
}

const notJpeg = (cause?: unknown) =>
  new EyrieError('type', 'the file is not a JPEG image or is damaged: send a .jpg file', { cause })
