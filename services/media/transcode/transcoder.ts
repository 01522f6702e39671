import { BESIDE, guard } from '../decode/beside.ts'
import type { FrameReader } from '../decode/decoding.ts'
import type { Branch, Pipeline, SampleStream } from '../node-gst/index.ts'
import { displaySize, type Picture } from '../picture.ts'
import { type EncodedListener, passEncoded } from './encoded.ts'
import type { Encoder } from './encoders.ts'

/** Encodes a source's decoded pictures to H.264 where they are decoded, as long as it hangs there. */
export interface Transcoder extends FrameReader {
  forceKeyframe(): void
}

export interface TranscoderListener extends EncodedListener {
  /** Pictures come from another pipeline, or are of another size. */
  interrupted(): void
  failed(reason: string): void
}

const KEYFRAME_TICKS = 2 * 90_000
/** Keyframes are asked for by time: how many pictures a second there are is often unknown. */
const KEYFRAME_INTERVAL = 250
const FPS_ASSUMED = 25
const NAME = `${BESIDE}transcode`
const ENCODER = `${NAME}-encoder`
const SINK = `${NAME}-units`

export function createTranscoder(encoder: Encoder, listener: TranscoderListener): Transcoder {
  let joined: { pipeline: Pipeline; branch: Branch; samples: SampleStream; shape: string } | undefined
  let keyframePts = 0

  async function leave() {
    const branch = joined?.branch
    part()
    await branch?.remove()
  }

  function part() {
    joined?.samples.close()
    joined = undefined
  }

  const forceKeyframe = () => void joined?.pipeline.forceKeyUnit(ENCODER)

  return {
    tee: 'pictures',
    async join(pipeline, tee, picture) {
      const size = sizeFor(picture, encoder.most)
      const shape = JSON.stringify([size, picture.fps])
      if (joined?.pipeline === pipeline && joined.shape === shape) return
      await leave()
      listener.interrupted()
      const frameTicks = Math.round(90_000 / (picture.fps ?? FPS_ASSUMED))
      const branch = pipeline.add(launch(encoder, size), tee)
      const samples = pipeline.samples(SINK, { queue: 8, full: 'block' }, sample => {
        passEncoded(sample, frameTicks, listener)
        if (sample.pts !== null) keepKeyframes(sample.pts, sample.keyframe)
        sample.release()
      })
      joined = { pipeline, branch, samples, shape }
      await branch.start()
    },
    part,
    close: leave,
    failed(error) {
      if (error.source?.startsWith(NAME)) listener.failed(error.message)
    },
    forceKeyframe,
  }

  function keepKeyframes(pts: number, keyframe: boolean) {
    if (!keyframe && pts - keyframePts < KEYFRAME_TICKS) return
    keyframePts = pts
    if (!keyframe) forceKeyframe()
  }
}

/** In square pixels, since not every player knows others; even, for the colours' sake. */
function sizeFor(picture: Picture, most: Encoder['most']): { width: number; height: number } {
  const shown = displaySize(picture)
  const scale = Math.min(1, most.width / shown.width, most.height / shown.height)
  const even = (pixels: number) => Math.max(2, Math.round((pixels * scale) / 2) * 2)
  return { width: even(shown.width), height: even(shown.height) }
}

function launch(encoder: Encoder, { width, height }: { width: number; height: number }): string {
  return [
    guard('transcode'),
    `queue name=${NAME}-queue leaky=downstream max-size-buffers=4 max-size-bytes=0 max-size-time=0`,
    `videoscale name=${NAME}-scale add-borders=false`,
    `video/x-raw,width=${width},height=${height},pixel-aspect-ratio=1/1`,
    `videoconvert name=${NAME}-convert`,
    'video/x-raw,format=(string){I420,NV12}',
    `${encoder.launch(KEYFRAME_INTERVAL)} name=${ENCODER}`,
    `h264parse name=${NAME}-parse`,
    'video/x-h264,stream-format=avc,alignment=au',
    `appsink name=${SINK} sync=false async=false`,
  ].join(' ! ')
}
