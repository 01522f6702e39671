import { Pipeline } from '../../node-gst/index.ts'

/** H.264 encoders as launch strings, best first: hardware, then OpenH264. None holds pictures back to reorder them. */
const ENCODERS: readonly ((keyframeInterval: number) => string)[] = [
  interval => `vah264enc b-frames=0 key-int-max=${interval}`,
  interval => `nvh264enc bframes=0 zerolatency=true gop-size=${interval}`,
  () => 'v4l2h264enc',
  interval =>
    `openh264enc rate-control=quality bitrate=6000000 qp-min=18 qp-max=32 complexity=low gop-size=${interval}`,
  interval => `x264enc tune=zerolatency speed-preset=ultrafast key-int-max=${interval}`,
]

const LIMIT_MS = 5_000
let found: Promise<(keyframeInterval: number) => string> | undefined

/** The best encoder of this machine that encodes a picture. Throws where there is none. */
export function bestEncoder(): Promise<(keyframeInterval: number) => string> {
  found ??= find()
  return found
}

async function find(): Promise<(keyframeInterval: number) => string> {
  for (const encoder of ENCODERS) if (await works(encoder(25))) return encoder
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
