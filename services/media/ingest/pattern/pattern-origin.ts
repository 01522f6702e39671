import { parseTestPicture } from '@eyrie/contract/test-picture'
import { hasElement } from '../../gstreamer/required-plugins.ts'
import type { Origin } from '../origin/origin.ts'
import { SourceFault } from '../origin/source-fault.ts'

/** Encoders for test pictures with low latency, by name. */
const ENCODERS = {
  x264enc: 'x264enc tune=zerolatency speed-preset=ultrafast key-int-max',
  openh264enc: 'openh264enc gop-size',
}
const KEYFRAME_INTERVAL_S = 2

/** Opens a test picture: a pattern of `videotestsrc`, with a keyframe every two seconds. */
export function openPattern(url: string): Origin {
  const picture = parseTestPicture(url)
  if (!picture) throw createPatternFault(url)

  const { pattern, width, height, fps } = picture
  const encoder = hasElement('x264enc') ? ENCODERS.x264enc : ENCODERS.openh264enc
  const raw = `video/x-raw,format=I420,width=${width},height=${height},framerate=${fps}/1`
  const elements = `videotestsrc name=origin ! ${raw} ! ${encoder}=${KEYFRAME_INTERVAL_S * fps}`
  return {
    name: url,
    elements: { h264: elements, any: elements },
    configure(pipeline) {
      try {
        pipeline.set('origin', 'pattern', pattern)
      } catch (cause) {
        throw createPatternFault(url, cause)
      }
    },
    picture: { codec: 'h264', width, height, pixelAspect: { numerator: 1, denominator: 1 }, fps },
    isLive: false,
    silenceMs: undefined,
    explainError: cause =>
      new SourceFault(`${url} stopped: ${cause.message}`, { transient: true, cause }),
  }
}

const createPatternFault = (url: string, cause?: unknown) =>
  new SourceFault(
    `${url} is not a test pattern: use test://smpte, test://ball, test://snow or another pattern of videotestsrc`,
    { transient: false, cause },
  )
