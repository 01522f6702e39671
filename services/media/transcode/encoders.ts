import { canReachPaused, filterWorking } from '../gstreamer/element-trial.ts'
import { parsePicture } from '../gstreamer/picture.ts'
import type { Sample } from '../node-gst/index.ts'
import type { AccessUnit } from '../stream/fmp4.ts'
import type { VideoTrack } from '../stream/sample-entry.ts'

/**
 * A GStreamer element that encodes H.264, in hardware or software, without B-frames:
 * WebRTC cannot carry them.
 */
export interface Encoder {
  name: string
  /** Returns the launch string, for at least one keyframe in `keyframeInterval` pictures. */
  launch(keyframeInterval: number): string
  /** Larger pictures are scaled down to this size in pixels. */
  maxSize: { width: number; height: number }
}

/** Returns the encoders that work on this machine, best first. Rejects if none works. */
export type Encoders = () => Promise<readonly Encoder[]>

const MAX_HARDWARE_SIZE = { width: 1920, height: 1088 }
/** Software encoding competes with analysis for the processor. */
const MAX_SOFTWARE_SIZE = { width: 1280, height: 960 }

/** All supported encoders, best first: hardware before software. */
const ENCODERS: readonly Encoder[] = [
  {
    name: 'vah264enc',
    maxSize: MAX_HARDWARE_SIZE,
    launch: interval => `vah264enc b-frames=0 key-int-max=${interval}`,
  },
  {
    name: 'nvh264enc',
    maxSize: MAX_HARDWARE_SIZE,
    launch: interval => `nvh264enc bframes=0 zerolatency=true gop-size=${interval}`,
  },
  { name: 'v4l2h264enc', maxSize: MAX_HARDWARE_SIZE, launch: () => 'v4l2h264enc' },
  {
    name: 'openh264enc',
    maxSize: MAX_SOFTWARE_SIZE,
    launch: interval =>
      `openh264enc rate-control=quality bitrate=6000000 qp-min=18 qp-max=32 complexity=low gop-size=${interval}`,
  },
  {
    name: 'x264enc',
    maxSize: MAX_SOFTWARE_SIZE,
    launch: interval => `x264enc tune=zerolatency speed-preset=ultrafast key-int-max=${interval}`,
  },
]

/**
 * The returned function tests each candidate at its first call. It repeats the test only
 * if no candidate works.
 */
export function createEncoders(candidates: readonly Encoder[] = ENCODERS): Encoders {
  let testing: Promise<readonly Encoder[]> | undefined

  return async () => {
    testing ??= filterWorking(candidates, isWorking)
    const working = await testing
    if (working.length > 0) return working

    testing = undefined
    throw new Error('no H.264 encoder works: run apt-get install gstreamer1.0-plugins-bad')
  }
}

/**
 * Whether an encoder can encode a picture. A driver without its device fails only
 * when it receives one.
 */
function isWorking({ launch }: Encoder): Promise<boolean> {
  const pictureCaps = 'video/x-raw,format=I420,width=320,height=240,framerate=25/1'
  const keyframeInterval = 25
  return canReachPaused(`videotestsrc ! ${pictureCaps} ! ${launch(keyframeInterval)} ! fakesink`)
}

/** Receives the output of an H.264 encoder. */
export interface EncoderListener {
  /** Called with the format of the following pictures. */
  onTrack(track: VideoTrack): void
  /** Called for each encoded picture. */
  onUnit(unit: AccessUnit): void
}

/**
 * Passes a sample of an encoder to the listener. `frameTicks` is the duration of a
 * picture in 90 kHz ticks.
 */
export function forwardEncoded(
  sample: Sample,
  frameTicks: number,
  listener: EncoderListener,
): void {
  const picture = sample.caps && parsePicture(sample.caps)
  const avcC = sample.caps?.fields.codec_data
  if (picture && avcC instanceof Uint8Array) listener.onTrack({ ...picture, avcC })
  const { pts, dts, keyframe, data } = sample
  if (pts === null) return
  listener.onUnit({ pts, dts: dts ?? pts, duration: frameTicks, keyframe, data })
}
