import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { Pipeline } from '../../node-gst/index.ts'
import { type Encoder, type EncoderListener, forwardEncoded } from '../../transcode/encoders.ts'
import type { Frame } from './frame-buffer.ts'

export interface AnnotatorListener extends EncoderListener {
  /** Called at most once, after which no more units follow. */
  failed(reason: string): void
}

/** Draws into frames of one size and encodes them. */
export interface Annotator {
  /** Whether the frame has the size and rate of this annotator; false for all frames after a failure. */
  accepts(frame: Frame): boolean
  /** Resolves when the drawing is in the picture. Must not be called again before. */
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

  /** Several elements may report the same failure. */
  function fail(reason: string) {
    if (hasFailed) return
    hasFailed = true
    listener.failed(reason)
    drawn.resolve()
  }

  return {
    accepts: frame => !hasFailed && frame.width === width && frame.height === height && frame.fps === fps,
    async render(frame, svg) {
      if (hasFailed) return
      drawn = Promise.withResolvers()
      pipeline.set('overlay', 'data', svg)
      pipeline.push('frames', frame.data, { ptsNs: toNanoseconds(frame.pts - first.pts) })
      await drawn.promise
    },
    close: () => pipeline.dispose(),
  }
}

/**
 * The overlay draws in RGB. Its output reaches the sink `drawn` through a tee before the encoder: once a picture arrives there,
 * the next drawing may be set, even if the encoder is still busy.
 */
function createLaunch({ width, height, fps }: Frame, encoder: string): string {
  const rate = `${Math.round(fps * 1000)}/1000`
  const caps = `video/x-raw,format=YV12,width=${width},height=${height},framerate=${rate},pixel-aspect-ratio=1/1`
  const overlay = `appsrc name=frames format=time max-bytes=0 caps="${caps}" ! videoconvert ! rsvgoverlay name=overlay ! tee name=shown`
  const encoding = `queue max-size-buffers=2 ! videoconvert ! video/x-raw,format=I420 ! ${encoder} ! h264parse ! video/x-h264,stream-format=avc,alignment=au`
  const sink = (name: string) => `appsink name=${name} sync=false async=false`
  return `${overlay} shown. ! ${encoding} ! ${sink('units')} shown. ! ${sink('drawn')}`
}

const toNanoseconds = (ticks: number) => Math.round((ticks * 100_000) / 9)
