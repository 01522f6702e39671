import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { Pipeline } from '../../node-gst/index.ts'
import { type EncodedListener, forwardEncoded } from '../../transcode/encoder-output.ts'
import type { Encoder } from '../../transcode/encoders.ts'
import type { Frame } from './frame-buffer.ts'

export interface AnnotatorListener extends EncodedListener {
  /** Called once: no picture comes any more. */
  failed(reason: string): void
}

/** Draws into frames of one size and encodes them, each by itself. */
export interface Annotator {
  /** Whether such a frame can be shown; none can after a failure. */
  fits(frame: Frame): boolean
  /** Resolves when the drawing is in the picture, so that the next may come. */
  show(frame: Frame, svg: string): Promise<void>
  close(): Promise<void>
}

const KEYFRAME_SECONDS = 2

export async function createAnnotator(
  first: Frame,
  encoder: Encoder,
  listener: AnnotatorListener,
): Promise<Annotator> {
  const { width, height, fps } = first
  const interval = Math.max(1, Math.round(KEYFRAME_SECONDS * fps))
  let drawn = Promise.withResolvers<void>()
  let failed = false
  const pipeline = new Pipeline(launch(first, encoder.launch(interval)), message => {
    if (message.type === 'error') fail(message.error.message)
  })
  pipeline.setTimeline({ ptsOffset: first.pts })
  pipeline.samples('drawn', { queue: 1, full: 'block' }, sample => {
    sample.release()
    drawn.resolve()
  })
  pipeline.samples('units', { queue: 8, full: 'block' }, sample => {
    if (!failed) forwardEncoded(sample, Math.round(TICKS_PER_SECOND / fps), listener)
    sample.release()
  })
  await pipeline.setState('playing').catch(error => fail(error.message))

  /** One failure is told by several elements. */
  function fail(reason: string) {
    if (failed) return
    failed = true
    listener.failed(reason)
    drawn.resolve()
  }

  return {
    fits: frame => !failed && frame.width === width && frame.height === height && frame.fps === fps,
    async show(frame, svg) {
      if (failed) return
      drawn = Promise.withResolvers()
      pipeline.set('overlay', 'data', svg)
      pipeline.push('frames', frame.data, { ptsNs: nanoseconds(frame.pts - first.pts) })
      await drawn.promise
    },
    close: () => pipeline.dispose(),
  }
}

/**
 * The overlay draws in red, green and blue. Its neighbour on the tee tells when a picture is through: another drawing
 * may be set then, whatever the encoder still holds.
 */
function launch({ width, height, fps }: Frame, encoder: string): string {
  const rate = `${Math.round(fps * 1000)}/1000`
  const caps = `video/x-raw,format=YV12,width=${width},height=${height},framerate=${rate},pixel-aspect-ratio=1/1`
  const drawing = `appsrc name=frames format=time max-bytes=0 caps="${caps}" ! videoconvert ! rsvgoverlay name=overlay ! tee name=shown`
  const coding = `queue max-size-buffers=2 ! videoconvert ! video/x-raw,format=I420 ! ${encoder} ! h264parse ! video/x-h264,stream-format=avc,alignment=au`
  const sink = (name: string) => `appsink name=${name} sync=false async=false`
  return `${drawing} shown. ! ${coding} ! ${sink('units')} shown. ! ${sink('drawn')}`
}

const nanoseconds = (ticks: number) => Math.round((ticks * 100_000) / 9)
