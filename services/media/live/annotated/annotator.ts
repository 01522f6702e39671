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
  /** Draws an SVG into a frame. Must not be called again before the promise is resolved. */
  render(frame: Frame, svg: string): Promise<void>
  close(): Promise<void>
}

const KEYFRAME_INTERVAL_S = 2

export async function createAnnotator(
  first: Frame,
  encoder: Encoder,
  listener: AnnotatorListener,
): Promise<Annotator> {
  const { width, height, fps } = first
  const keyframeInterval = Math.max(1, Math.round(KEYFRAME_INTERVAL_S * fps))
  /** Resolved when the current drawing is in its frame, or when the pipeline has failed. */
  let drawn = Promise.withResolvers<void>()
  let hasFailed = false

  const pipeline = new Pipeline(createLaunch(first, encoder.launch(keyframeInterval)), message => {
    if (message.type === 'error') fail(message.error.message)
  })

  pipeline.setTimeline({ ptsOffset: first.pts })
  pipeline.samples('drawn', { queue: 1, full: 'block' }, sample => {
    sample.release()
    drawn.resolve()
  })
  pipeline.samples('units', { queue: 8, full: 'block' }, sample => {
    if (!hasFailed) forwardEncoded(sample, Math.round(TICKS_PER_SECOND / fps), listener)
    sample.release()
  })
  await pipeline.setState('playing').catch(error => fail(error.message))

  /** Reports the first failure only, because several elements may report the same failure. */
  function fail(reason: string) {
    if (hasFailed) return
    hasFailed = true
    listener.onFailure(reason)
    drawn.resolve()
  }

  return {
    accepts: frame =>
      !hasFailed && frame.width === width && frame.height === height && frame.fps === fps,
    async render(frame, svg) {
      if (hasFailed) return
      drawn = Promise.withResolvers()
      pipeline.set('overlay', 'data', svg)
      pipeline.push('frames', frame.data, { ptsNs: ticksToNs(frame.pts - first.pts) })
      await drawn.promise
    },
    close: () => pipeline.dispose(),
  }
}

/**
 * Creates the launch string. A tee before the encoder passes each picture to the sink `drawn`.
 * Once a picture arrives there, the next drawing may be set on the overlay, even if the
 * encoder is still busy.
 */
function createLaunch({ width, height, fps }: Frame, encoder: string): string {
  const rate = `${Math.round(fps * 1000)}/1000`
  const caps = `video/x-raw,format=YV12,width=${width},height=${height},framerate=${rate},pixel-aspect-ratio=1/1`
  const source = `appsrc name=frames format=time max-bytes=0 caps="${caps}"`
  const drawing = `${source} ! videoconvert ! rsvgoverlay name=overlay ! tee name=shown`

  const input = 'queue max-size-buffers=2 ! videoconvert ! video/x-raw,format=I420'
  const encoding = `${input} ! ${encoder} ! h264parse ! video/x-h264,stream-format=avc,alignment=au`

  const sink = (name: string) => `appsink name=${name} sync=false async=false`
  return `${drawing} shown. ! ${encoding} ! ${sink('units')} shown. ! ${sink('drawn')}`
}
