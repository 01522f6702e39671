import { Pipeline } from '../node-gst/index.ts'

/** The elements that media requires, by Debian package. */
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

/** Whether this GStreamer installation has an element. */
export function hasElement(element: string): boolean {
  try {
    void new Pipeline(element, () => {}).dispose()
    return true
  } catch {
    return false
  }
}

/** Throws an Error that names the missing elements and the packages to install. */
export function assertPluginsInstalled(): void {
  const missing = Object.values(ELEMENTS_BY_PACKAGE)
    .flat()
    .filter(element => !hasElement(element))
  if (missing.length === 0) return
  const packages = Object.keys(ELEMENTS_BY_PACKAGE).filter(name =>
    ELEMENTS_BY_PACKAGE[name]!.some(element => missing.includes(element)),
  )
  throw new Error(
    `missing GStreamer elements ${missing.join(', ')}: run apt-get install ${packages.join(' ')}`,
  )
}
