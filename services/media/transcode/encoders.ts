import { Pipeline } from '../node-gst/index.ts'

/** An encoder that holds no pictures back to reorder them. */
export interface Encoder {
  /** As a launch string, with a keyframe every so many pictures at least. */
  launch(keyframeInterval: number): string
  /** Widest and highest picture that it is asked for, in pixels. */
  most: { width: number; height: number }
}

const HARDWARE = { width: 1920, height: 1088 }
/** On a processor twice the size is more than twice as much taken from analysis. */
const SOFTWARE = { width: 1280, height: 960 }

/** H.264 encoders, best first: hardware, then OpenH264. */
const ENCODERS: readonly Encoder[] = [
  { most: HARDWARE, launch: interval => `vah264enc b-frames=0 key-int-max=${interval}` },
  { most: HARDWARE, launch: interval => `nvh264enc bframes=0 zerolatency=true gop-size=${interval}` },
  { most: HARDWARE, launch: () => 'v4l2h264enc' },
  {
    most: SOFTWARE,
    launch: interval =>
      `openh264enc rate-control=quality bitrate=6000000 qp-min=18 qp-max=32 complexity=low gop-size=${interval}`,
  },
  {
    most: SOFTWARE,
    launch: interval => `x264enc tune=zerolatency speed-preset=ultrafast key-int-max=${interval}`,
  },
]

const LIMIT_MS = 5_000
let found: Promise<Encoder> | undefined

/** The best encoder of this machine that encodes a picture. Throws where there is none. */
export function bestEncoder(): Promise<Encoder> {
  found ??= find()
  return found
}

async function find(): Promise<Encoder> {
  for (const encoder of ENCODERS) if (await works(encoder.launch(25))) return encoder
  found = undefined
  throw new Error('there is no H.264 encoder: run apt-get install gstreamer1.0-plugins-bad')
}

/** A driver without its device shows itself by a picture that does not come out. */
async function works(encoder: string): Promise<boolean> {
  const done = Promise.withResolvers<boolean>()
  const picture = 'video/x-raw,format=I420,width=320,height=240,framerate=25/1'
  let pipeline: Pipeline
  try {
    pipeline = new Pipeline(`videotestsrc num-buffers=3 ! ${picture} ! ${encoder} ! fakesink`, ({ type }) => {
      if (type === 'eos') done.resolve(true)
      if (type === 'error') done.resolve(false)
    })
  } catch {
    return false
  }
  const limit = setTimeout(() => done.resolve(false), LIMIT_MS)
  try {
    await pipeline.setState('playing')
    return await done.promise
  } catch {
    return false
  } finally {
    clearTimeout(limit)
    await pipeline.dispose()
  }
}
