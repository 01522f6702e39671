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
    // The constructor throws if the element is unknown. The pipeline is not used.
    const pipeline = new Pipeline(element, () => {})
    void pipeline.dispose()
    return true
  } catch {
    return false
  }
}

/** Throws an `Error` that names the missing elements and the packages to install. */
export function assertPluginsInstalled(): void {
  const missingElements: string[] = []
  const packagesToInstall: string[] = []
  for (const [name, elements] of Object.entries(ELEMENTS_BY_PACKAGE)) {
    const missing = elements.filter(element => !hasElement(element))
    if (missing.length === 0) continue
    missingElements.push(...missing)
    packagesToInstall.push(name)
  }
  if (missingElements.length === 0) return

  throw new Error(
    `missing GStreamer elements ${missingElements.join(', ')}: ` +
      `run apt-get install ${packagesToInstall.join(' ')}`,
  )
}
