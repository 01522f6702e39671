import type { Pacing, ViewSpec } from '@eyrie/contract'
import { type Branch, type Pipeline, Ring, type RingFeed } from '../node-gst/index.ts'
import { type Tell, wakeAtOnce, wakeWhenNeeded } from './reader-wakeup.ts'
import { scaleQueue } from './thread-times.ts'
import type { Fit } from './view-fit.ts'

export interface ViewOptions {
  sourceId: number
  path: string
  generation: number
  epoch: number
  spec: Pick<ViewSpec, 'format' | 'quality' | 'fill'>
  fit: Fit
  /** Size of the decoded picture. */
  source: { width: number; height: number }
  fps: number
  pacing: Pacing
  onFrame: Tell
}

/** A ring, and the branch of the current pipeline that fills it. */
export interface View {
  readonly path: string
  readonly generation: number
  /** Hangs the view on the tee of decoded frames, unless it hangs there already. */
  join(pipeline: Pipeline, tee: string): Promise<void>
  /** The pipeline goes, and the branch with it. The ring stays for the next one. */
  part(): void
  grant(n: number): void
  /** The fastest reader has been through the frames up to `n`. */
  readUpTo(n: number): void
  stats(): { written: number; dropped: number }
  /** Removes ring and branch; the other views notice nothing. */
  close(): Promise<void>
}

const RING_LIMIT_BYTES = 64 << 20
const FEWEST_SLOTS = 4
const SECONDS_KEPT = 0.5

/** Throws where the ring cannot be made. */
export function createView(options: ViewOptions): View {
  const { path, generation, fit, spec, pacing } = options
  const sink = `view-${generation}`
  const slots = slotsFor(fit, spec.format, options.fps)
  const wake = pacing === 'all' ? wakeWhenNeeded(slots, options.onFrame) : wakeAtOnce(options.onFrame)
  const ring = new Ring({
    path,
    generation,
    epoch: options.epoch,
    slots,
    width: fit.width,
    height: fit.height,
    format: spec.format,
    content: fit.content,
    fill: fillFor(spec),
    payloadLimit: Math.ceil(payloadLimit(fit, spec.format)),
    sourceWidth: options.source.width,
    sourceHeight: options.source.height,
    bytesLimit: RING_LIMIT_BYTES,
    pacing: pacing === 'all' ? 'all' : 'newest',
  })
  let joined: { branch: Branch; feed: RingFeed } | undefined

  function part() {
    joined?.feed.close()
    joined = undefined
  }

  return {
    path,
    generation,

    async join(pipeline, tee) {
      if (joined) return
      const queue = scaleQueue(options.sourceId, generation)
      const branch = pipeline.add(viewLaunch(queue, sink, fit.content, spec, pacing), tee)
      let first = true
      const feed = pipeline.toRing(sink, ring, frame => {
        wake.frame(frame, first)
        first = false
      })
      joined = { branch, feed }
      await branch.start()
    },

    part,
    grant: n => ring.grant(n),
    readUpTo: wake.readUpTo,
    stats: () => ring.stats(),
    async close() {
      const branch = joined?.branch
      part()
      ring.close()
      await branch?.remove()
    },
  }
}

/** Scales before it converts: there are half as many bytes in 4:2:0. */
function viewLaunch(
  queue: string,
  sink: string,
  size: { width: number; height: number },
  { format, quality = JPEG_QUALITY }: Pick<ViewSpec, 'format' | 'quality'>,
  pacing: Pacing,
): string {
  const leaky = pacing === 'all' ? 'no' : 'downstream'
  return [
    `queue name=${queue} leaky=${leaky} max-size-buffers=2 max-size-bytes=0 max-size-time=0`,
    'videoscale add-borders=false',
    `video/x-raw,width=${size.width},height=${size.height},pixel-aspect-ratio=1/1`,
    'videoconvert',
    // In 4:2:0 not even noise encodes to more bytes than a slot holds.
    `video/x-raw,format=${format === 'JPEG' ? 'I420' : format}`,
    ...(format === 'JPEG' ? [`jpegenc quality=${quality}`] : []),
    `appsink name=${sink} sync=false async=false`,
  ].join(' ! ')
}

/** Half a second of frames, as far as the memory allows. */
function slotsFor(fit: Fit, format: ViewSpec['format'], fps: number): number {
  const slots = Math.max(FEWEST_SLOTS, Math.ceil(fps * SECONDS_KEPT))
  const pageBytes = 4096
  const slotBytes = payloadLimit(fit, format) + pageBytes
  return Math.max(2, Math.min(slots, Math.floor(RING_LIMIT_BYTES / slotBytes) - 1))
}

/** Bytes that a picture has at most. What a JPEG's headers and tables need comes on top of its pixels. */
const payloadLimit = ({ width, height }: Fit, format: ViewSpec['format']) =>
  width * height * BYTES_PER_PIXEL[format] + (format === 'JPEG' ? JPEG_TABLES_BYTES : 0)

const JPEG_TABLES_BYTES = 4096
const JPEG_QUALITY = 85

const BYTES_PER_PIXEL: Record<ViewSpec['format'], number> = {
  I420: 1.5,
  GRAY8: 1,
  RGB: 3,
  BGR: 3,
  RGBP: 3,
  BGRP: 3,
  JPEG: 1.5,
}

/** `fill` is a grey from black to white. In I420 luma goes from 16 to 235, and grey is 128 in both others. */
function fillFor({ format, fill }: Pick<ViewSpec, 'format' | 'fill'>): number[] {
  return format === 'I420' ? [Math.round(16 + (fill * 219) / 255), 128, 128] : [fill]
}
