import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { FrameReader } from '../decode/decoding.ts'
import { createPictureBranch } from '../decode/picture-branch.ts'
import { AUXILIARY, errorGuard } from '../gstreamer/auxiliary-elements.ts'
import { displaySize, type Picture } from '../gstreamer/picture.ts'
import { type Encoder, type EncoderListener, forwardEncoded } from './encoders.ts'

/** Encodes a source's decoded pictures to H.264 where they are decoded, as long as it hangs there. */
export interface Transcoder extends FrameReader {
  forceKeyframe(): void
}

export interface TranscoderListener extends EncoderListener {
  /** Pictures come from another pipeline, or are of another size. */
  interrupted(): void
  failed(reason: string): void
}

const KEYFRAME_TICKS = 2 * TICKS_PER_SECOND
/** Keyframes are asked for by time: how many pictures a second there are is often unknown. */
const KEYFRAME_INTERVAL = 250
const FPS_ASSUMED = 25

let made = 0

export function createTranscoder(encoder: Encoder, listener: TranscoderListener): Transcoder {
  /** Of its own, so that what its elements say last is not taken for the words of those that come after them. */
  const branchName = `transcode-${++made}`
  const name = `${AUXILIARY}${branchName}`
  let frameTicks = 0
  let keyframePts = 0

  const branch = createPictureBranch({
    sizeFor: picture => sizeFor(picture, encoder.maxSize),
    begin(size, picture) {
      listener.interrupted()
      frameTicks = Math.round(TICKS_PER_SECOND / (picture.fps ?? FPS_ASSUMED))
      return {
        launch: launch(branchName, encoder, size),
        sink: `${name}-units`,
        options: { queue: 8, full: 'block' },
      }
    },
    onSample(sample) {
      forwardEncoded(sample, frameTicks, listener)
      if (sample.pts !== null) keepKeyframes(sample.pts, sample.keyframe)
      sample.release()
    },
  })

  const forceKeyframe = () => void branch.pipeline()?.forceKeyUnit(`${name}-encoder`)

  return {
    tee: 'pictures',
    join: (...place) => branch.join(...place).catch(error => listener.failed(error.message)),
    part: branch.part,
    close: branch.leave,
    failed(error) {
      if (error.source?.startsWith(`${name}-`)) listener.failed(error.message)
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
function sizeFor(picture: Picture, most: Encoder['maxSize']): { width: number; height: number } {
  const shown = displaySize(picture)
  const scale = Math.min(1, most.width / shown.width, most.height / shown.height)
  const even = (pixels: number) => Math.max(2, Math.round((pixels * scale) / 2) * 2)
  return { width: even(shown.width), height: even(shown.height) }
}

function launch(branchName: string, encoder: Encoder, size: { width: number; height: number }): string {
  const name = `${AUXILIARY}${branchName}`
  return [
    errorGuard(branchName),
    `queue name=${name}-queue leaky=downstream max-size-buffers=4 max-size-bytes=0 max-size-time=0`,
    `videoscale name=${name}-scale add-borders=false`,
    `video/x-raw,width=${size.width},height=${size.height},pixel-aspect-ratio=1/1`,
    `videoconvert name=${name}-convert`,
    'video/x-raw,format=(string){I420,NV12}',
    `${encoder.launch(KEYFRAME_INTERVAL)} name=${name}-encoder`,
    `h264parse name=${name}-parse`,
    'video/x-h264,stream-format=avc,alignment=au',
    `appsink name=${name}-units sync=false async=false`,
  ].join(' ! ')
}
