import { type BBox, type Drawing, EyrieError } from '@eyrie/contract'
import { Semaphore } from 'async-mutex'
import { type Remote, startThread } from '../../runtime/worker-thread.ts'
import { createGopBuffer, type Gop, type GopBuffer } from '../../stream/gop-buffer.ts'
import type { Stream, StreamUnit, Track } from '../../stream/live-stream.ts'
import { renderSvg } from '../annotated/drawing-svg.ts'
import { decodePicture, encodePicture } from './decode-picture.ts'
import type { hideRegions } from './hide-regions.ts'

export interface Snapshot {
  jpeg: Uint8Array<ArrayBuffer>
  pts: number
}

export interface SnapshotRequest {
  /** 90 kHz ticks of stream time; the latest keyframe by default. */
  pts?: number | undefined
  /** In pixels; the picture's own width by default. */
  width?: number | undefined
  /** Regions to pixelate. */
  hidden?: readonly BBox[] | undefined
  drawing?: Drawing | undefined
}

/** Single pictures of live streams, decoded from the packets of the last seconds. */
export interface Snapshots {
  /** Starts to buffer the stream, so that snapshots can show pictures from before the current GOP. */
  buffer(stream: Stream<Track>): void
  /**
   * Decodes the frame nearest to the requested `pts`. Throws `EyrieError`: `id` for a picture that is no longer buffered,
   * `unavailable` if the stream has no picture yet or too many snapshots are pending.
   */
  take(stream: Stream<Track>, request?: SnapshotRequest): Promise<Snapshot>
  stop(): void
}

const MAX_CONCURRENT = 2
const MAX_WAITING = 16
const MAX_BUFFERED_BYTES = 32 << 20
/** A time before the oldest picture by less than this still means the oldest picture. */
const TOLERANCE_TICKS = 9_000

/** `seconds` is how far back in time pictures are available. */
export function createSnapshots(seconds: number): Snapshots {
  const buffers = new WeakMap<Stream<Track>, GopBuffer>()
  const semaphore = new Semaphore(MAX_CONCURRENT)
  let hideThread: { remote: Remote<{ hide: typeof hideRegions }>; end(): void } | undefined
  /** Snapshots that run or wait. */
  let pending = 0

  /** The buffered GOPs, or the current one of a stream that is not buffered. */
  function getGops(stream: Stream<Track>): readonly Gop[] {
    const gops = buffers.get(stream)?.gops() ?? []
    if (gops.length > 0) return gops
    const track = stream.track()
    const units = [...stream.cachedUnits()]
    return track && units.length > 0 ? [{ track, units }] : []
  }

  async function createPicture(stream: Stream<Track>, request: SnapshotRequest) {
    const { pts, width, hidden = [], drawing } = request
    const { track, units } = pts === undefined ? findLatest(stream) : findNearest(getGops(stream), pts)
    if (hidden.length === 0 && !drawing) return decodePicture(track, units, 'jpeg', width)
    const pixels = await decodePicture(track, units, 'pixels', width)
    if (hidden.length > 0) {
      hideThread ??= startThread(new URL('./hide-regions-worker.ts', import.meta.url), undefined)
      pixels.data = await hideThread.remote.hide(pixels, hidden)
    }
    return encodePicture(pixels, drawing && renderSvg(drawing, pixels))
  }

  return {
    buffer(stream) {
      const gops = createGopBuffer(MAX_BUFFERED_BYTES)
      gops.retain(seconds)
      buffers.set(stream, gops)
      stream.follow({ unit: gops.add, interrupt: gops.interrupt })
    },
    async take(stream, request = {}) {
      if (pending >= MAX_CONCURRENT + MAX_WAITING)
        throw new EyrieError('unavailable', 'too many snapshots are pending: retry later')
      pending++
      try {
        const { data, pts } = await semaphore.runExclusive(() => createPicture(stream, request))
        return { jpeg: data, pts }
      } finally {
        pending--
      }
    },
    stop: () => hideThread?.end(),
  }
}

/** The units from a keyframe up to the requested frame. */
interface DecodableUnits {
  track: Track
  units: readonly StreamUnit[]
}

const createNoPictureError = () => new EyrieError('unavailable', 'the stream has no picture yet')

function findLatest(stream: Stream<Track>): DecodableUnits {
  const track = stream.track()
  const units = stream.cachedUnits().slice(0, 1)
  if (!track || units.length === 0) throw createNoPictureError()
  return { track, units }
}

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
    throw new EyrieError('id', `the picture at pts ${pts} is no longer kept: the oldest is at ${oldest}`, {
      value: { oldest, newest },
    })
  }
  const { gop, index } = nearest
  return { track: gop.track, units: gop.units.slice(0, index + 1) }
}
