import { Pipeline } from '../node-gst/index.ts'

/** The GStreamer elements that the media service requires, by Debian package. */
const ELEMENTS_BY_PACKAGE: Record<string, readonly string[]> = {
  'gstreamer1.0-plugins-base': ['videotestsrc', 'videoscale', 'videoconvert', 'parsebin', 'decodebin3'],
  'gstreamer1.0-plugins-good': [
    'qtdemux',
    'matroskademux',
    'multipartdemux',
    'jpegenc',
    'rtspsrc',
    'rtph264depay',
    'souphttpsrc',
    'v4l2src',
  ],
  'gstreamer1.0-plugins-bad': [
    'h264parse',
    'h265parse',
    'errorignore',
    'jpegparse',
    'tsdemux',
    'rsvgoverlay',
  ],
  'gstreamer1.0-libav': ['avdec_h264'],
}

/** Whether an element is installed. */
export function hasElement(element: string): boolean {
  try {
    void new Pipeline(element, () => {}).dispose()
    return true
  } catch {
    return false
  }
}

/** Throws an `Error` that names the missing elements and the packages to install. */
export function assertPluginsInstalled(): void {
  const missing: string[] = []
  const packages: string[] = []
  for (const [name, elements] of Object.entries(ELEMENTS_BY_PACKAGE)) {
    const missingInPackage = elements.filter(element => !hasElement(element))
    if (missingInPackage.length === 0) continue
    missing.push(...missingInPackage)
    packages.push(name)
  }

  if (missing.length === 0) return
  throw new Error(
    `missing GStreamer elements ${missing.join(', ')}: run apt-get install ${packages.join(' ')}`,
  )
}
