import { Pipeline } from '../node-gst/index.ts'

/** The Debian packages of the elements that no source can do without. */
const PACKAGES: Record<string, readonly string[]> = {
  'gstreamer1.0-plugins-base': ['videotestsrc', 'videoscale', 'videoconvert', 'parsebin', 'decodebin3'],
  'gstreamer1.0-plugins-good': [
    ...['qtdemux', 'matroskademux', 'multipartdemux', 'jpegenc'],
    ...['rtspsrc', 'rtph264depay', 'souphttpsrc', 'v4l2src'],
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

/** Whether GStreamer has this element. */
export function hasElement(element: string): boolean {
  try {
    void new Pipeline(element, () => {}).dispose()
    return true
  } catch {
    return false
  }
}

/** Throws an Error that names what is missing and the packages to install. */
export function assertPluginsInstalled(): void {
  const missing = Object.values(PACKAGES)
    .flat()
    .filter(element => !hasElement(element))
  if (missing.length === 0) return
  const packages = Object.keys(PACKAGES).filter(name => PACKAGES[name]!.some(each => missing.includes(each)))
  throw new Error(`GStreamer lacks ${missing.join(', ')}: run apt-get install ${packages.join(' ')}`)
}
