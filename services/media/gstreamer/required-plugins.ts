import { Pipeline } from '../node-gst/index.ts'

/** The GStreamer elements that the media service requires, by Debian package. */
const ELEMENTS_BY_PACKAGE: Record<string, readonly string[]> = {
  'gstreamer1.0-plugins-base': [
    'videotestsrc',
    'videoscale',
    'videoconvert',
    'parsebin',
    'decodebin3',
  ],
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
    // The constructor throws if the element is unknown.
    void new Pipeline(element, () => {}).dispose()
    return true
  } catch {
    return false
  }
}

/** Throws an `Error` that names the missing elements and the packages to install. */
export function assertPluginsInstalled(): void {
  const incomplete = Object.entries(ELEMENTS_BY_PACKAGE)
    .map(([name, elements]) => ({
      name,
      missing: elements.filter(element => !hasElement(element)),
    }))
    .filter(({ missing }) => missing.length > 0)
  if (incomplete.length === 0) return

  const elements = incomplete.flatMap(({ missing }) => missing).join(', ')
  const packages = incomplete.map(({ name }) => name).join(' ')
  throw new Error(`missing GStreamer elements ${elements}: run apt-get install ${packages}`)
}
