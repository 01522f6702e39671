import { type BBox, type Drawing, EyrieError } from '@eyrie/contract'
import { Semaphore } from 'async-mutex'
import { type Remote, startThread } from '../../runtime/worker-thread.ts'
import { createGopBuffer, type Gop, type GopBuffer } from '../../stream/gop-buffer.ts'
import type { Stream, StreamUnit, Track } from '../../stream/live-stream.ts'
import { renderSvg } from '../annotated/drawing-svg.ts'
import { decodePicture, encodePicture } from './decode-picture.ts'
import type { hideRegions } from './hide-regions.ts'

/** A single picture of a live stream. */
export interface Snapshot {
  jpeg: Uint8Array<ArrayBuffer>
  /** Stream time in 90 kHz ticks. */
  pts: number
}

export interface SnapshotRequest {
  /** Stream time in 90 kHz ticks. Default: the latest keyframe. */
  pts?: number | undefined
  /** Width in pixels. Default: the width of the picture. */
  width?: number | undefined
  /** Regions to pixelate. */
  hidden?: readonly BBox[] | undefined
  drawing?: Drawing | undefined
}

/** Takes single pictures of live streams by decoding their buffered packets. */
export interface Snapshots {
  /**
   * Buffers the packets of a stream, so that snapshots can show pictures from before the last
   * keyframe.
   */
  buffer(stream: Stream<Track>): void
  /**
   * Decodes the picture nearest to the requested `pts`. Throws `EyrieError`: `id` if the picture is
   * no longer buffered, `unavailable` if the stream has no picture yet or too many snapshots are
   * pending. `signal` is aborted by a client that has given up: nothing is decoded for it.
   */
  take(stream: Stream<Track>, request?: SnapshotRequest, signal?: AbortSignal): Promise<Snapshot>
  stop(): void
}

const MAX_CONCURRENT = 2
const MAX_WAITING = 16
const MAX_BUFFERED_BYTES = 32 << 20
/** A requested time may precede the oldest buffered picture by this much: 100 ms. */
const TOLERANCE_TICKS = 9_000

/** `seconds` is the time for which pictures are buffered. */
export function createSnapshots(seconds: number): Snapshots {
  const buffers = new WeakMap<Stream<Track>, GopBuffer>()
  const semaphore = new Semaphore(MAX_CONCURRENT)
  /** The thread that pixelates regions. It is started when it is first needed. */
  let hideThread: { remote: Remote<{ hide: typeof hideRegions }>; end(): void } | undefined
  /** Number of running and waiting snapshots. */
  let pendingCount = 0

  /**
   * Returns the buffered groups of pictures (GOPs), or only the current GOP if the
   * stream is not buffered.
   */
  function getGops(stream: Stream<Track>): readonly Gop[] {
    const gops = buffers.get(stream)?.gops() ?? []
    if (gops.length > 0) return gops

    const track = stream.track()
    const units = [...stream.cachedUnits()]
    return track && units.length > 0 ? [{ track, units }] : []
  }

  async function createPicture(stream: Stream<Track>, request: SnapshotRequest) {
    const { pts, width, hidden = [], drawing } = request
    const { track, units } =
      pts === undefined ? findLatest(stream) : findNearest(getGops(stream), pts)
    if (hidden.length === 0 && !drawing) return decodePicture(track, units, 'jpeg', width)

    const pixels = await decodePicture(track, units, 'pixels', width)
    if (hidden.length > 0) {
      hideThread ??= startThread(new URL('./hide-regions-worker.ts', import.meta.url), undefined)
      pixels.data = await hideThread.remote.hide(pixels, hidden)
    }
    const svg = drawing && renderSvg(drawing, pixels)
    return encodePicture(pixels, svg)
  }

  return {
    buffer(stream) {
      const gops = createGopBuffer(MAX_BUFFERED_BYTES)
      gops.retain(seconds)
      buffers.set(stream, gops)
      stream.follow({ unit: gops.add, interrupt: gops.interrupt })
    },

    async take(stream, request = {}, signal) {
      if (pendingCount >= MAX_CONCURRENT + MAX_WAITING) {
        throw new EyrieError('unavailable', 'too many snapshots are pending: retry later')
      }

      pendingCount++
      try {
        const { data, pts } = await semaphore.runExclusive(() => {
          signal?.throwIfAborted()
          return createPicture(stream, request)
        })
        return { jpeg: data, pts }
      } finally {
        pendingCount--
      }
    },

    stop: () => hideThread?.end(),
  }
}

/** The units from a keyframe to the requested picture. */
interface DecodableUnits {
  track: Track
  units: readonly StreamUnit[]
}

const createNoPictureError = () => new EyrieError('unavailable', 'the stream has no picture yet')

/** Returns the latest keyframe of a stream. */
function findLatest(stream: Stream<Track>): DecodableUnits {
  const track = stream.track()
  // The current GOP begins with its keyframe.
  const [keyframe] = stream.cachedUnits()
  if (!track || !keyframe) throw createNoPictureError()
  return { track, units: [keyframe] }
}

/** Returns the picture nearest to `pts`, with the pictures that decoding it requires. */
function findNearest(gops: readonly Gop[], pts: number): DecodableUnits {
  let nearest: { gop: Gop; index: number; distance: number } | undefined
  let oldest = Number.POSITIVE_INFINITY
  let newest = Number.NEGATIVE_INFINITY
  for (const gop of gops) {
    for (const [index, unit] of gop.units.entries()) {
      oldest = Math.min(oldest, unit.pts)
      newest = Math.max(newest, unit.pts)
      const distance = Math.abs(unit.pts - pts)
      if (!nearest || distance < nearest.distance) nearest = { gop, index, distance }
    }
  }

  if (!nearest) throw createNoPictureError()
  if (pts < oldest - TOLERANCE_TICKS) {
    const problem = `the picture at pts ${pts} is no longer buffered: the oldest one is at ${oldest}`
    throw new EyrieError('id', problem, { value: { oldest, newest } })
  }

  const { gop, index } = nearest
  return { track: gop.track, units: gop.units.slice(0, index + 1) }
}
