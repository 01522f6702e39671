import { filterWorking, prerolls } from '../gstreamer/element-trial.ts'
import { parsePicture } from '../gstreamer/picture.ts'
import type { Sample } from '../node-gst/index.ts'
import type { AccessUnit } from '../stream/fmp4.ts'
import type { VideoTrack } from '../stream/sample-entry.ts'

/** A GStreamer encoder for H.264 without B-frames. */
export interface Encoder {
  name: string
  /** Returns the launch string, with at least one keyframe in `keyframeInterval` pictures. */
  launch(keyframeInterval: number): string
  /** Pictures are scaled down to this size in pixels. */
  maxSize: { width: number; height: number }
}

/** Returns the working encoders of the machine, best first. Rejects if there is none. */
export type Encoders = () => Promise<readonly Encoder[]>

const HARDWARE = { width: 1920, height: 1088 }
/** Smaller, because software encoding takes processor time from analysis. */
const SOFTWARE = { width: 1280, height: 960 }

/** H.264 encoders, best first: hardware, then OpenH264. */
const ENCODERS: readonly Encoder[] = [
  {
    name: 'vah264enc',
    maxSize: HARDWARE,
    launch: interval => `vah264enc b-frames=0 key-int-max=${interval}`,
  },
  {
    name: 'nvh264enc',
    maxSize: HARDWARE,
    launch: interval => `nvh264enc bframes=0 zerolatency=true gop-size=${interval}`,
  },
  { name: 'v4l2h264enc', maxSize: HARDWARE, launch: () => 'v4l2h264enc' },
  {
    name: 'openh264enc',
    maxSize: SOFTWARE,
    launch: interval =>
      `openh264enc rate-control=quality bitrate=6000000 qp-min=18 qp-max=32 complexity=low gop-size=${interval}`,
  },
  {
    name: 'x264enc',
    maxSize: SOFTWARE,
    launch: interval => `x264enc tune=zerolatency speed-preset=ultrafast key-int-max=${interval}`,
  },
]

/** Tests each candidate once, at the first call of the result. Tests again while none works. */
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

/** Encodes one picture, because a driver without its device fails only then. */
function isWorking({ launch }: Encoder): Promise<boolean> {
  const picture = 'video/x-raw,format=I420,width=320,height=240,framerate=25/1'
  return prerolls(`videotestsrc ! ${picture} ! ${launch(25)} ! fakesink`)
}

/** Receives the output of an H.264 encoder. */
export interface EncoderListener {
  track(track: VideoTrack): void
  unit(unit: AccessUnit): void
}

/** Passes an encoder's sample to the listener. `frameTicks` is the duration of a picture in 90 kHz ticks. */
export function forwardEncoded(sample: Sample, frameTicks: number, listener: EncoderListener): void {
  const picture = sample.caps && parsePicture(sample.caps)
  const avcC = sample.caps?.fields.codec_data
  if (picture && avcC instanceof Uint8Array) listener.track({ ...picture, avcC })
  const { pts, dts, keyframe, data } = sample
  if (pts === null) return
  listener.unit({ pts, dts: dts ?? pts, duration: frameTicks, keyframe, data })
}
