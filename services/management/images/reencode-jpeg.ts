import { EyrieError } from '@eyrie/contract'
import { Transformer } from '@napi-rs/image'

const JPEG_MAGIC = [0xff, 0xd8, 0xff]
/** More pixels than any photograph for the console needs: decoding such an image exhausts memory. */
const MAX_PIXELS = 50_000_000
const QUALITY = 90

/**
 * Decodes a JPEG and encodes its pixels again, upright. This strips everything else from the file, such as the location or a
 * script. Throws `EyrieError`: `type` for content that is not JPEG (file names are ignored), `size` for too many pixels.
 */
export async function reencodeJpeg(bytes: Uint8Array): Promise<Uint8Array> {
  if (!JPEG_MAGIC.every((byte, index) => bytes[index] === byte)) throw createTypeError()
  try {
    const image = new Transformer(bytes)
    const { width, height } = await image.metadata()
    if (width * height > MAX_PIXELS)
      throw new EyrieError('size', `the image has ${width}×${height} pixels: send one of at most 50 million`)
    return await image.rotate().jpeg(QUALITY)
  } catch (cause) {
    throw cause instanceof EyrieError ? cause : createTypeError(cause)
  }
}

const createTypeError = (cause?: unknown) =>
  new EyrieError('type', 'the file is not a JPEG image or is damaged: send a .jpg file', { cause })
