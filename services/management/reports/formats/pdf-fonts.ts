import { existsSync } from 'node:fs'
import { EyrieError } from '@eyrie/contract'

/** The fonts of PDF files, from Debian's packages fonts-dejavu-core and fonts-droid-fallback. */
export interface PdfFonts {
  regular: string
  bold: string
  /**
   * Characters that the others lack, such as Chinese, Japanese and Korean. Undefined if
   * it is not installed.
   */
  fallback: string | undefined
}

const FOLDER = '/usr/share/fonts/truetype'
const INSTALLED: PdfFonts = {
  regular: `${FOLDER}/dejavu/DejaVuSans.ttf`,
  bold: `${FOLDER}/dejavu/DejaVuSans-Bold.ttf`,
  fallback: `${FOLDER}/droid/DroidSansFallbackFull.ttf`,
}

/** Returns the installed fonts. Throws `EyrieError` (`unavailable`) if they are missing. */
export function findFonts(): PdfFonts {
  const missing = [INSTALLED.regular, INSTALLED.bold].find(path => !existsSync(path))
  if (missing) {
    throw new EyrieError(
      'unavailable',
      `PDF files need the font ${missing}: as root, run apt-get install fonts-dejavu-core, or choose another format`,
    )
  }
  const { fallback } = INSTALLED
  return { ...INSTALLED, fallback: fallback && existsSync(fallback) ? fallback : undefined }
}
