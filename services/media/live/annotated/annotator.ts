import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { Pipeline } from '../../node-gst/index.ts'
import { ticksToNs } from '../../runtime/stream-time.ts'
import { type Encoder, type EncoderListener, forwardEncoded } from '../../transcode/encoders.ts'
import type { Frame } from './frame-buffer.ts'

export interface AnnotatorListener extends EncoderListener {
  /** Called at most once, when the encoder has failed. No more units follow. */
  onFailure(reason: string): void
}

/**
 * Draws boxes, lines and labels, given as SVG, into frames of one size, and encodes
 * the pictures as H.264.
 */
export interface Annotator {
  /**
   * Returns whether the frame has the size and rate of this annotator. After a failure,
   * no frame is accepted.
   */
  accepts(frame: Frame): boolean
  /**
   * Draws an SVG into a frame. Must not be called again before the promise is resolved. After a
   * failure, the frame is dropped.
   */
  render(frame: Frame, svg: string): Promise<void>
  close(): Promise<void>
}

const KEYFRAME_INTERVAL_S = 2

/** Names of elements in the pipeline. */
const SOURCE = 'frames'
const OVERLAY = 'overlay'
const DRAWN_TEE = 'shown'
const DRAWN_SINK = 'drawn'
const ENCODED_SINK = 'units'
/** Only one picture is drawn at a time. */
const DRAWN_QUEUE_SIZE = 1
/** Maximum number of pictures that wait for the encoder. */
const ENCODER_QUEUE_SIZE = 2
/** Maximum number of encoded units that wait for the listener. */
const ENCODED_QUEUE_SIZE = 8

/**
 * Creates an annotator for frames of the size and rate of `firstFrame`. If the pipeline cannot be
 * started, the listener is notified of the failure, as if the encoder had failed later.
 */
export async function createAnnotator(
  firstFrame: Frame,
  encoder: Encoder,
  listener: AnnotatorListener,
): Promise<Annotator> {
  const { width, height, fps } = firstFrame
  const keyframeInterval = Math.max(1, Math.round(KEYFRAME_INTERVAL_S * fps))
  const frameTicks = Math.round(TICKS_PER_SECOND / fps)
  /** Resolved when the overlay has drawn into the current frame, or the pipeline has failed. */
  let frameDrawn = Promise.withResolvers<void>()
  let hasFailed = false

  /** Reports the first failure only, because several elements may report the same failure. */
  function fail(reason: string) {
    if (hasFailed) return
    hasFailed = true
    listener.onFailure(reason)
    frameDrawn.resolve()
  }

  const launch = createLaunch(firstFrame, encoder.launch(keyframeInterval))
  const pipeline = new Pipeline(launch, message => {
    if (message.type === 'error') fail(message.error.message)
  })
  pipeline.setTimeline({ ptsOffset: firstFrame.pts })
  pipeline.samples(DRAWN_SINK, { queue: DRAWN_QUEUE_SIZE, full: 'block' }, sample => {
    sample.release()
    frameDrawn.resolve()
  })
  pipeline.samples(ENCODED_SINK, { queue: ENCODED_QUEUE_SIZE, full: 'block' }, sample => {
    if (!hasFailed) forwardEncoded(sample, frameTicks, listener)
    sample.release()
  })
  await pipeline.setState('playing').catch(error => fail(error.message))

  return {
    accepts: frame =>
      !hasFailed && frame.width === width && frame.height === height && frame.fps === fps,
    async render(frame, svg) {
      if (hasFailed) return
      frameDrawn = Promise.withResolvers()
      pipeline.set(OVERLAY, 'data', svg)
      pipeline.push(SOURCE, frame.data, { ptsNs: ticksToNs(frame.pts - firstFrame.pts) })
      await frameDrawn.promise
    },
    close: () => pipeline.dispose(),
  }
}

/**
 * Creates the launch string. After the overlay, a tee passes each picture to the encoder and to the
 * sink `DRAWN_SINK`. Once a picture arrives in this sink, the next drawing may be set on the
 * overlay, even if the encoder is still busy.
 */
function createLaunch({ width, height, fps }: Frame, encoderLaunch: string): string {
  const rate = `${Math.round(fps * 1000)}/1000`
  const size = `width=${width},height=${height},framerate=${rate},pixel-aspect-ratio=1/1`
  const caps = `video/x-raw,format=YV12,${size}`
  const source = `appsrc name=${SOURCE} format=time max-bytes=0 caps="${caps}"`
  const overlay = `videoconvert ! rsvgoverlay name=${OVERLAY}`

  const encoderQueue = `queue max-size-buffers=${ENCODER_QUEUE_SIZE}`
  const toEncoderFormat = 'videoconvert ! video/x-raw,format=I420'
  const toUnits = 'h264parse ! video/x-h264,stream-format=avc,alignment=au'
  const encoding = `${encoderQueue} ! ${toEncoderFormat} ! ${encoderLaunch} ! ${toUnits}`

  const sink = (name: string) => `appsink name=${name} sync=false async=false`
  return [
    `${source} ! ${overlay} ! tee name=${DRAWN_TEE}`,
    `${DRAWN_TEE}. ! ${encoding} ! ${sink(ENCODED_SINK)}`,
    `${DRAWN_TEE}. ! ${sink(DRAWN_SINK)}`,
  ].join(' ')
}
