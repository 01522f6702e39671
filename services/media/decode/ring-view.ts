import type { Pacing, ViewSpec } from '@eyrie/contract'
import { type Branch, type Pipeline, Ring, type RingFeed } from '../node-gst/index.ts'
import { type NotifyFrame, wakeOnDemand, wakeOnEveryFrame } from './reader-wakeup.ts'
import { scaleQueueName } from './thread-times.ts'
import type { Fit } from './view-fit.ts'

export interface RingViewOptions {
  sourceId: number
  /** Path of the ring file. */
  path: string
  /** Number of the ring, by which readers recognize a new one. */
  generation: number
  /** Identifies this run of the media service. */
  epoch: number
  /** Pixel format of the frames, JPEG quality, and grey level of the padding. */
  spec: Pick<ViewSpec, 'format' | 'quality' | 'fill'>
  /** Size of the frames in the ring, and the rectangle that the scaled picture covers. */
  fit: Fit
  /** Size of the decoded picture. */
  source: { width: number; height: number }
  fps: number
  pacing: Pacing
  onFrame: NotifyFrame
}

/**
 * A view of a source: its frames in one size and format, for readers in other processes. A pipeline
 * branch scales the decoded frames and writes them to a ring, which is a file with a fixed number
 * of slots that are reused in turn.
 */
export interface RingView {
  readonly path: string
  readonly generation: number
  /**
   * Connects the branch to a tee of decoded frames. Does nothing if the branch is already
   * connected.
   */
  attach(pipeline: Pipeline, tee: string): Promise<void>
  /**
   * Stops writing. Must be called before the pipeline is disposed of. The ring remains
   * for the next pipeline.
   */
  detach(): void
  /**
   * Allows the frames up to `n` to be written. With pacing `all`, a frame is only written when its
   * readers have allowed it.
   */
  grant(n: number): void
  /** Must be called when the fastest reader has processed the frames up to `n`. */
  readUpTo(n: number): void
  stats(): { written: number; dropped: number }
  /** Removes the ring and the branch. Other views are not affected. */
  close(): Promise<void>
}

const MAX_RING_BYTES = 64 << 20
/** Minimum number of slots that a ring file may have. */
const MIN_SLOTS = 2
/** Minimum number of slots at low frame rates, if they do not exceed `MAX_RING_BYTES`. */
const MIN_PREFERRED_SLOTS = 4
/** Duration of the frames in a ring. */
const RING_SECONDS = 0.5
const PAGE_BYTES = 4096
/** Maximum size of the headers and tables of a JPEG. */
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
/** The range of luma in I420 (ITU-R BT.601). */
const MIN_LUMA = 16
const MAX_LUMA = 235
/** Chroma of grey in I420. */
const NEUTRAL_CHROMA = 128

/** Creates a view and its ring file. Throws if the file cannot be created. */
export function createRingView(options: RingViewOptions): RingView {
  const { path, generation, fit, spec } = options
  const sinkName = `view-${generation}`
  const slots = calculateSlots(fit, spec.format, options.fps)
  /** Whether the readers must read every frame. Otherwise they only read the newest one. */
  const keepsEveryFrame = options.pacing === 'all'
  const wakeup = keepsEveryFrame
    ? wakeOnDemand(slots, options.onFrame)
    : wakeOnEveryFrame(options.onFrame)

  const ring = new Ring({
    path,
    generation,
    epoch: options.epoch,
    slots,
    width: fit.width,
    height: fit.height,
    format: spec.format,
    content: fit.content,
    fill: toFillColour(spec),
    payloadLimit: Math.ceil(maxPayloadBytes(fit, spec.format)),
    sourceWidth: options.source.width,
    sourceHeight: options.source.height,
    bytesLimit: MAX_RING_BYTES,
    pacing: keepsEveryFrame ? 'all' : 'newest',
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
      const launch = createLaunch({
        queueName: scaleQueueName(options.sourceId, generation),
        leaky: keepsEveryFrame ? 'no' : 'downstream',
        sinkName,
        size: fit.content,
        spec,
      })
      const branch = pipeline.add(launch, tee)

      let isFirst = true
      const feed = pipeline.toRing(sinkName, ring, frame => {
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

/** The elements of a branch. */
interface BranchOptions {
  queueName: string
  /** Which frames the queue drops if it is full. */
  leaky: 'no' | 'downstream'
  sinkName: string
  /** Size to which the frames are scaled. */
  size: { width: number; height: number }
  spec: Pick<ViewSpec, 'format' | 'quality'>
}

/**
 * Returns the GStreamer launch string of the branch. Frames are scaled before they are converted,
 * because 4:2:0 has fewer bytes.
 */
function createLaunch({ queueName, leaky, sinkName, size, spec }: BranchOptions): string {
  const { format, quality = DEFAULT_JPEG_QUALITY } = spec
  return [
    `queue name=${queueName} leaky=${leaky} max-size-buffers=2 max-size-bytes=0 max-size-time=0`,
    'videoscale add-borders=false',
    `video/x-raw,width=${size.width},height=${size.height},pixel-aspect-ratio=1/1`,
    'videoconvert',
    // In 4:2:0, even a JPEG of noise fits in a slot.
    `video/x-raw,format=${format === 'JPEG' ? 'I420' : format}`,
    ...(format === 'JPEG' ? [`jpegenc quality=${quality}`] : []),
    `appsink name=${sinkName} sync=false async=false`,
  ].join(' ! ')
}

/**
 * Returns the number of slots for half a second of frames, limited by the maximum size of a ring.
 */
function calculateSlots(fit: Fit, format: ViewSpec['format'], fps: number): number {
  const preferredSlots = Math.max(MIN_PREFERRED_SLOTS, Math.ceil(fps * RING_SECONDS))
  // A slot also has a header and is padded to whole pages. One slot fewer leaves space for
  // the header of the ring.
  const slotBytes = maxPayloadBytes(fit, format) + PAGE_BYTES
  const maxSlots = Math.floor(MAX_RING_BYTES / slotBytes) - 1
  return Math.max(MIN_SLOTS, Math.min(preferredSlots, maxSlots))
}

/** Returns the maximum size of a frame. */
function maxPayloadBytes({ width, height }: Fit, format: ViewSpec['format']): number {
  const pixelBytes = width * height * BYTES_PER_PIXEL[format]
  return format === 'JPEG' ? pixelBytes + JPEG_TABLES_BYTES : pixelBytes
}

/** Converts a grey level from 0 to 255 to the components of a pixel. */
function toFillColour({ format, fill }: Pick<ViewSpec, 'format' | 'fill'>): number[] {
  if (format !== 'I420') return [fill]
  const luma = Math.round(MIN_LUMA + (fill * (MAX_LUMA - MIN_LUMA)) / 255)
  return [luma, NEUTRAL_CHROMA, NEUTRAL_CHROMA]
}
