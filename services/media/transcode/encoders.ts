import { filterWorking, prerolls } from '../gstreamer/element-trial.ts'

/** An encoder that holds no pictures back to reorder them. */
export interface Encoder {
  name: string
  /** As a launch string, with a keyframe every so many pictures at least. */
  launch(keyframeInterval: number): string
  /** Widest and highest picture that it is asked for, in pixels. */
  most: { width: number; height: number }
}

/** The encoders of a machine that work, best first; there is one at least. Rejects where there is none. */
export type Encoders = () => Promise<readonly Encoder[]>

const HARDWARE = { width: 1920, height: 1088 }
/** On a processor twice the size is more than twice as much taken from analysis. */
const SOFTWARE = { width: 1280, height: 960 }

/** H.264 encoders, best first: hardware, then OpenH264. */
const ENCODERS: readonly Encoder[] = [
  {
    name: 'vah264enc',
    most: HARDWARE,
    launch: interval => `vah264enc b-frames=0 key-int-max=${interval}`,
  },
  {
    name: 'nvh264enc',
    most: HARDWARE,
    launch: interval => `nvh264enc bframes=0 zerolatency=true gop-size=${interval}`,
  },
  { name: 'v4l2h264enc', most: HARDWARE, launch: () => 'v4l2h264enc' },
  {
    name: 'openh264enc',
    most: SOFTWARE,
    launch: interval =>
      `openh264enc rate-control=quality bitrate=6000000 qp-min=18 qp-max=32 complexity=low gop-size=${interval}`,
  },
  {
    name: 'x264enc',
    most: SOFTWARE,
    launch: interval => `x264enc tune=zerolatency speed-preset=ultrafast key-int-max=${interval}`,
  },
]

/** The encoders of this machine. Each is tried once, when the first is wanted. */
export function createEncoders(candidates: readonly Encoder[] = ENCODERS): Encoders {
  let found: Promise<readonly Encoder[]> | undefined
  return async () => {
    found ??= filterWorking(candidates, works)
    const working = await found
    if (working.length > 0) return working
    found = undefined
    throw new Error('there is no H.264 encoder: run apt-get install gstreamer1.0-plugins-bad')
  }
}

/** A driver without its device shows itself by a picture that does not come out. */
function works({ launch }: Encoder): Promise<boolean> {
  const picture = 'video/x-raw,format=I420,width=320,height=240,framerate=25/1'
  return prerolls(`videotestsrc ! ${picture} ! ${launch(25)} ! fakesink`)
}
