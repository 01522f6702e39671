import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { FrameReader } from '../decode/decoding.ts'
import { createPictureBranch } from '../decode/picture-branch.ts'
import { AUXILIARY, errorGuard } from '../gstreamer/auxiliary-elements.ts'
import { displaySize, type Picture } from '../gstreamer/picture.ts'
import type { TimedUnit } from '../stream/live-stream.ts'
import { type Encoder, type EncoderListener, forwardEncoded } from './encoders.ts'

/**
 * Reads the decoded pictures of a source and encodes them as H.264, in a branch of the
 * source's GStreamer pipeline.
 */
export interface Transcoder extends FrameReader {
  forceKeyframe(): void
}

export interface TranscoderListener extends EncoderListener {
  /** Called for each encoded picture, with its capture time. */
  onUnit(unit: TimedUnit): void
  /** Called before pictures from another pipeline, or with another size. */
  onInterrupt(): void
  onFailure(reason: string): void
}

/**
 * Time between keyframes. The transcoder requests them, because the encoder often does not
 * know the frame rate.
 */
const KEYFRAME_TICKS = 2 * TICKS_PER_SECOND
/** Maximum number of pictures between keyframes that the encoder itself inserts. */
const MAX_KEYFRAME_INTERVAL = 250
/** Frame rate of sources that do not declare one. */
const DEFAULT_FPS = 25

/** Number of transcoders created so far. */
let transcoderCount = 0

export function createTranscoder(encoder: Encoder, listener: TranscoderListener): Transcoder {
  transcoderCount++
  /**
   * Unique, so that a late error of another transcoder's element is not attributed to this
   * transcoder.
   */
  const branchName = `transcode-${transcoderCount}`
  const prefix = `${AUXILIARY}${branchName}`
  let frameTicks = 0
  let lastKeyframePts = 0

  const branch = createPictureBranch({
    getSize: picture => fitPicture(picture, encoder.maxSize),
    describeBranch(size, picture) {
      listener.onInterrupt()
      frameTicks = Math.round(TICKS_PER_SECOND / (picture.fps ?? DEFAULT_FPS))
      return {
        launch: createLaunch(branchName, encoder, size),
        sink: `${prefix}-units`,
        options: { queue: 8, full: 'block' },
      }
    },
    onSample(sample) {
      const { timeUs } = sample
      forwardEncoded(sample, frameTicks, {
        onTrack: listener.onTrack,
        onUnit: unit => listener.onUnit({ ...unit, timeUs: timeUs ?? undefined }),
      })
      if (sample.pts !== null) forceKeyframeIfDue(sample.pts, sample.keyframe)
      sample.release()
    },
  })

  function forceKeyframe() {
    branch.pipeline()?.forceKeyUnit(`${prefix}-encoder`)
  }

  function forceKeyframeIfDue(pts: number, isKeyframe: boolean) {
    if (!isKeyframe && pts - lastKeyframePts < KEYFRAME_TICKS) return
    lastKeyframePts = pts
    if (!isKeyframe) forceKeyframe()
  }

  return {
    tee: 'pictures',
    attach: (...origin) =>
      branch.attach(...origin).catch(error => listener.onFailure(error.message)),
    detach: branch.detach,
    close: branch.remove,
    onAuxiliaryFailure(error) {
      if (error.source?.startsWith(`${prefix}-`)) listener.onFailure(error.message)
    },
    forceKeyframe,
  }
}

/**
 * Returns the size of the encoded picture: square pixels, which every player supports, and even,
 * for chroma subsampling.
 */
function fitPicture(
  picture: Picture,
  maxSize: Encoder['maxSize'],
): { width: number; height: number } {
  const display = displaySize(picture)
  const scale = Math.min(1, maxSize.width / display.width, maxSize.height / display.height)
  const toEven = (pixels: number) => Math.max(2, Math.round((pixels * scale) / 2) * 2)
  return { width: toEven(display.width), height: toEven(display.height) }
}

function createLaunch(
  branchName: string,
  encoder: Encoder,
  size: { width: number; height: number },
): string {
  const prefix = `${AUXILIARY}${branchName}`
  return [
    errorGuard(branchName),
    `queue name=${prefix}-queue leaky=downstream max-size-buffers=4 max-size-bytes=0 max-size-time=0`,
    `videoscale name=${prefix}-scale add-borders=false`,
    `video/x-raw,width=${size.width},height=${size.height},pixel-aspect-ratio=1/1`,
    `videoconvert name=${prefix}-convert`,
    'video/x-raw,format=(string){I420,NV12}',
    `${encoder.launch(MAX_KEYFRAME_INTERVAL)} name=${prefix}-encoder`,
    `h264parse name=${prefix}-parse`,
    'video/x-h264,stream-format=avc,alignment=au',
    `appsink name=${prefix}-units sync=false async=false`,
  ].join(' ! ')
}
