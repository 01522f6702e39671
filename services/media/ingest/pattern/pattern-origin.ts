import { hasElement } from '../../gstreamer/required-plugins.ts'
import type { Origin } from '../origin/origin.ts'
import { SourceFault } from '../origin/source-fault.ts'

const WIDTH = 1280
const HEIGHT = 720
const FPS = 25

/** Encoders for test pictures with low latency and a keyframe every two seconds. */
const ENCODERS = {
  x264enc: `x264enc tune=zerolatency speed-preset=ultrafast key-int-max=${2 * FPS}`,
  openh264enc: `openh264enc gop-size=${2 * FPS}`,
}

/** Opens a test picture at `test://<pattern>`, where the pattern is one of `videotestsrc`, such as smpte, ball or snow. */
export function openPattern(url: string): Origin {
  const pattern = url.replace(/^test:\/*/, '') || 'smpte'
  const encoder = hasElement('x264enc') ? ENCODERS.x264enc : ENCODERS.openh264enc
  const raw = `video/x-raw,format=I420,width=${WIDTH},height=${HEIGHT},framerate=${FPS}/1`
  const elements = `videotestsrc name=origin ! ${raw} ! ${encoder}`
  return {
    name: url,
    elements: { h264: elements, any: elements },
    configure(pipeline) {
      try {
        pipeline.set('origin', 'pattern', pattern)
      } catch (cause) {
        const reason = `${url} is not a test pattern: use test://smpte, test://ball, test://snow or another pattern of videotestsrc`
        throw new SourceFault(reason, { transient: false, cause })
      }
    },
    picture: {
      codec: 'h264',
      width: WIDTH,
      height: HEIGHT,
      pixelAspect: { numerator: 1, denominator: 1 },
      fps: FPS,
    },
    live: false,
    silenceMs: undefined,
    fault: cause => new SourceFault(`${url} stopped: ${cause.message}`, { transient: true, cause }),
  }
}
