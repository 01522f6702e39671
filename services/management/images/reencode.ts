import { EyrieError } from '@eyrie/contract'
import { Transformer } from '@napi-rs/image'

const JPEG_MAGIC = [0xff, 0xd8, 0xff]
/** A picture of more pixels is no photograph for a console, but a way to exhaust memory. */
const MOST_PIXELS = 50_000_000
const QUALITY = 90

/**
 * Decodes a JPEG and writes its pixels anew, upright: what else its file carried, such as a place or a script, is gone.
 * Throws EyrieError `type` for whatever is no JPEG, whatever it is called, and `size` for one of too many pixels.
 */
export async function reencode(bytes: Uint8Array): Promise<Uint8Array> {
  if (!JPEG_MAGIC.every((byte, n) => bytes[n] === byte)) throw notJpeg()
  try {
    const picture = new Transformer(bytes)
    const { width, height } = await picture.metadata()
    if (width * height > MOST_PIXELS)
      throw new EyrieError('size', `the image has ${width}×${height} pixels: send one of at most 50 million`)
    return await picture.rotate().jpeg(QUALITY)
  } catch (cause) {
    throw cause instanceof EyrieError ? cause : notJpeg(cause)
  }
}

const notJpeg = (cause?: unknown) =>
  new EyrieError('type', 'this is no JPEG image, or a damaged one: send a .jpg file', { cause })
