import type { Pacing, ViewSpec } from '@eyrie/contract'
import { type Branch, type Pipeline, Ring, type RingFeed } from '../node-gst/index.ts'
import { type NotifyFrame, wakeOnDemand, wakeOnEveryFrame } from './reader-wakeup.ts'
import { scaleQueueName } from './thread-times.ts'
import type { Fit } from './view-fit.ts'

export interface RingViewOptions {
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
  onFrame: NotifyFrame
}

/** A ring, and the branch of the current pipeline that fills it. */
export interface RingView {
  readonly path: string
  readonly generation: number
  /** Connects the view to the tee of decoded frames, unless already connected. */
  attach(pipeline: Pipeline, tee: string): Promise<void>
  /** Stops writing, before the pipeline is disposed of together with the branch. The ring remains for the next pipeline. */
  detach(): void
  grant(n: number): void
  /** The fastest reader has processed the frames up to `n`. */
  readUpTo(n: number): void
  stats(): { written: number; dropped: number }
  /** Removes the ring and its branch without affecting other views. */
  close(): Promise<void>
}

const MAX_RING_BYTES = 64 << 20
const MIN_SLOTS = 4
const RING_S = 0.5
const PAGE_BYTES = 4096
/** Headers and tables of a JPEG, in addition to its pixels. */
const JPEG_TABLES_BYTES = 4096
const DEFAULT_JPEG_QUALITY = 85

const BYTES_PER_PIXEL: Record<ViewSpec['format'], number> = {
  I420: 1.5,
  GRAY8: 1,
  RGB: 3,
  BGR: 3,
  RGBP: 3,
  BGRP: 3,
  JPEG: 1.5,
}

/** Throws if the ring cannot be created. */
export function createRingView(options: RingViewOptions): RingView {
  const { path, generation, fit, spec, pacing } = options
  const sink = `view-${generation}`
  const slots = calculateSlots(fit, spec.format, options.fps)
  const wakeup = pacing === 'all' ? wakeOnDemand(slots, options.onFrame) : wakeOnEveryFrame(options.onFrame)
  const ring = new Ring({
    path,
    generation,
    epoch: options.epoch,
    slots,
    width: fit.width,
    height: fit.height,
    format: spec.format,
    content: fit.content,
    fill: fillColor(spec),
    payloadLimit: Math.ceil(maxPayloadBytes(fit, spec.format)),
    sourceWidth: options.source.width,
    sourceHeight: options.source.height,
    bytesLimit: MAX_RING_BYTES,
    pacing: pacing === 'all' ? 'all' : 'newest',
  })
  let attached: { branch: Branch; feed: RingFeed } | undefined

  function detach() {
    attached?.feed.close()
    attached = undefined
  }

  return {
    path,
    generation,

    async attach(pipeline, tee) {
      if (attached) return
      const queue = scaleQueueName(options.sourceId, generation)
      const branch = pipeline.add(viewLaunch(queue, sink, fit.content, spec, pacing), tee)
      let isFirst = true
      const feed = pipeline.toRing(sink, ring, frame => {
        wakeup.onFrame(frame, isFirst)
        isFirst = false
      })
      attached = { branch, feed }
      await branch.start()
    },

    detach,
    grant: n => ring.grant(n),
    readUpTo: wakeup.readUpTo,
    stats: () => ring.stats(),
    async close() {
      const branch = attached?.branch
      detach()
      ring.close()
      await branch?.remove()
    },
  }
}

/** Scales before it converts, since 4:2:0 has half as many bytes. */
function viewLaunch(
  queue: string,
  sink: string,
  size: { width: number; height: number },
  { format, quality = DEFAULT_JPEG_QUALITY }: Pick<ViewSpec, 'format' | 'quality'>,
  pacing: Pacing,
): string {
  const leaky = pacing === 'all' ? 'no' : 'downstream'
  return [
    `queue name=${queue} leaky=${leaky} max-size-buffers=2 max-size-bytes=0 max-size-time=0`,
    'videoscale add-borders=false',
    `video/x-raw,width=${size.width},height=${size.height},pixel-aspect-ratio=1/1`,
    'videoconvert',
    // A JPEG in 4:2:0 always fits in a slot, even if the picture is noise.
    `video/x-raw,format=${format === 'JPEG' ? 'I420' : format}`,
    ...(format === 'JPEG' ? [`jpegenc quality=${quality}`] : []),
    `appsink name=${sink} sync=false async=false`,
  ].join(' ! ')
}

/** Returns enough slots for half a second of frames, as far as the memory limit permits. */
function calculateSlots(fit: Fit, format: ViewSpec['format'], fps: number): number {
  const slots = Math.max(MIN_SLOTS, Math.ceil(fps * RING_S))
  const slotBytes = maxPayloadBytes(fit, format) + PAGE_BYTES
  return Math.max(2, Math.min(slots, Math.floor(MAX_RING_BYTES / slotBytes) - 1))
}

const maxPayloadBytes = ({ width, height }: Fit, format: ViewSpec['format']) =>
  width * height * BYTES_PER_PIXEL[format] + (format === 'JPEG' ? JPEG_TABLES_BYTES : 0)

/** `fill` is a grey from 0 (black) to 255 (white). I420 limits luma to 16–235; 128 is neutral chroma. */
function fillColor({ format, fill }: Pick<ViewSpec, 'format' | 'fill'>): number[] {
  return format === 'I420' ? [Math.round(16 + (fill * 219) / 255), 128, 128] : [fill]
}
