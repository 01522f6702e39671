import { EyrieError } from '@eyrie/contract'
import type { Shape } from '@eyrie/contract/exports'
import type { SnapshotRequest } from '@eyrie/contract/media'
import { MAX_PICTURE_OFFSET_MS } from '@eyrie/contract/object'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { isSameMoment, type MediaAccess } from '../media/frame-picture.ts'
import { requestMedia } from '../media/media-request.ts'
import { toDrawing } from './drawing.ts'
import type { AnalysedFrame, FrameHistory, FramePosition } from './frame-history.ts'
import { type BlurTarget, findHiddenRegions } from './hidden-regions.ts'

/** The picture that a client requests. */
export interface SnapshotOptions {
  /** Which frame the picture shows; the newest one by default. */
  position?: FramePosition | undefined
  /** Width of the picture in pixels; that of the source by default. */
  width?: number | undefined
  /** Whether to draw the detected objects, lines and zones. */
  boxes: boolean
  blur: readonly BlurTarget[]
}

/** A captured picture. */
export interface ChannelSnapshot {
  jpeg: Uint8Array<ArrayBuffer>
  /** Presentation time of the picture in 90 kHz ticks. */
  pts: number
  /** Time of capture of the picture in epoch ms. */
  timeMs: number
}

/**
 * Pictures of the frames that a channel has analysed, optionally with boxes around objects or with
 * blurred faces and persons.
 */
export interface ChannelSnapshots {
  /**
   * Returns a picture of the requested frame as JPEG. With boxes or blur, it shows the analysed
   * frame nearest to the position. Without them, it may show any frame within a second of the
   * position. Throws `EyrieError`:
   * - `id` if there is no such frame any more,
   * - `unavailable` if the frame may still arrive, if the newest frame is not available, or if the
   *   media service is unreachable.
   */
  capture(
    channel: { id: number; source: number },
    options: SnapshotOptions,
  ): Promise<ChannelSnapshot>
}

export interface ChannelSnapshotsOptions {
  media: MediaAccess
  frameHistory: Pick<FrameHistory, 'find'>
  /** Returns the lines and zones of a channel. */
  channelShapes(channel: number): Shape[]
  /** Returns the current time in epoch ms. */
  now?(): number
}

const TIMEOUT_MS = 5_000
const TICKS_PER_MS = TICKS_PER_SECOND / 1000
/** On an overloaded machine, a frame may be analysed this much later than it was captured. */
const MAX_ANALYSIS_DELAY_MS = 60_000
/**
 * The `pts` of a frame is computed from an analysed frame that is at most this far away. Further
 * away, clocks may have drifted.
 */
const MAX_EXTRAPOLATION_MS = 10_000

export function createChannelSnapshots({
  media,
  frameHistory,
  channelShapes,
  now = Date.now,
}: ChannelSnapshotsOptions): ChannelSnapshots {
  /** Finds the analysed frame at a position, or the newest one. Throws if there is none. */
  function findAnalysedFrame(channel: number, position: FramePosition | undefined): AnalysedFrame {
    const frame = frameHistory.find(channel, position)
    if (!frame) throw new EyrieError('unavailable', `channel ${channel} has analysed no frame yet`)
    if (!position || isNear(frame, position)) return frame
    throw createMissingError(channel, frame, position)
  }

  /**
   * Finds the frame at a position, even if it was not analysed: the media service has
   * pictures of all frames. The `pts` of a frame that was not analysed is extrapolated from
   * the nearest analysed frame.
   */
  function findAnyFrame(channel: number, position: FramePosition | undefined): AnalysedFrame {
    const nearest = isTime(position) ? frameHistory.find(channel, position) : undefined
    if (!isTime(position) || !nearest) return findAnalysedFrame(channel, position)

    const distanceMs = position.timeMs - nearest.timeMs
    const canExtrapolate = Math.abs(distanceMs) <= MAX_EXTRAPOLATION_MS
    if (isNear(nearest, position) || !canExtrapolate) return findAnalysedFrame(channel, position)
    const pts = Math.max(0, Math.round(nearest.pts + distanceMs * TICKS_PER_MS))
    return { pts, timeMs: position.timeMs, objects: [] }
  }

  /**
   * Computes when the picture at `pts` was captured. `pts` does not increase while a camera is
   * disconnected, so the time is computed from an analysed frame of the same moment. If there is
   * none, it is computed from the requested frame.
   */
  function computeTimeMs(channel: number, pts: number, requested: AnalysedFrame): number {
    const analysed = frameHistory.find(channel, { pts })
    const known = analysed && isSameMoment(analysed.pts, pts) ? analysed : requested
    return Math.round(known.timeMs + (pts - known.pts) / TICKS_PER_MS)
  }

  function createMissingError(
    channel: number,
    nearest: AnalysedFrame,
    position: FramePosition,
  ): EyrieError {
    const missing = `channel ${channel} has no frame near ${formatPosition(position)}`
    if (mayFollow(nearest, position, now())) {
      return new EyrieError('unavailable', `${missing} yet: ask again later`)
    }
    const value = {
      nearest: isTime(position) ? new Date(nearest.timeMs).toISOString() : nearest.pts,
    }
    return new EyrieError('id', missing, { value })
  }

  /** Returns the error for the client if the picture of a frame could not be captured. */
  function toClientError(
    error: unknown,
    channel: number,
    position: FramePosition | undefined,
  ): unknown {
    const isMissing = error instanceof EyrieError && error.code === 'id'
    if (!isMissing) return error
    // A client that did not choose the frame has made no mistake if the frame is missing.
    if (!position) {
      return new EyrieError('unavailable', `${error.message}: ask again for a newer one`)
    }
    const newest = frameHistory.find(channel)
    return newest && mayFollow(newest, position, now())
      ? createMissingError(channel, newest, position)
      : error
  }

  return {
    async capture({ id, source }, { position, width, boxes, blur }) {
      // The boxes and blurred regions belong to one frame and must not be applied to another frame.
      const isExact = boxes || blur.length > 0
      const frame = isExact ? findAnalysedFrame(id, position) : findAnyFrame(id, position)
      const request: SnapshotRequest = {
        pts: frame.pts,
        ...(width !== undefined && { width }),
        hidden: findHiddenRegions(frame.objects, new Set(blur)),
        ...(boxes && { drawing: toDrawing(frame.objects, channelShapes(id)) }),
      }

      try {
        const { jpeg, pts } = await requestSnapshot(media, source, request)
        const isUsable = isExact ? pts === frame.pts : isSameMoment(pts, frame.pts)
        if (!isUsable) {
          throw new EyrieError('id', `the picture at pts ${frame.pts} is no longer available`)
        }
        const timeMs = computeTimeMs(id, pts, frame)
        const captured = { ...frame, timeMs }
        if (isTime(position) && !isNear(captured, position)) {
          throw createMissingError(id, captured, position)
        }
        return { jpeg, pts, timeMs }
      } catch (error) {
        throw toClientError(error, id, position)
      }
    },
  }
}

/**
 * Requests a picture of a source from the media service. `pts` is that of the picture, which may
 * be of another frame.
 */
async function requestSnapshot(
  media: MediaAccess,
  source: number,
  request: SnapshotRequest,
): Promise<Pick<ChannelSnapshot, 'jpeg' | 'pts'>> {
  const response = await requestMedia(media, `/streams/${source}/snapshot.jpg`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  const pts = Number(response.headers.get('X-Pts'))
  return { jpeg: new Uint8Array(await response.arrayBuffer()), pts }
}

const isTime = (position: FramePosition | undefined): position is { timeMs: number } =>
  position !== undefined && 'timeMs' in position

const isNear = (frame: AnalysedFrame, position: FramePosition) =>
  isTime(position)
    ? Math.abs(frame.timeMs - position.timeMs) <= MAX_PICTURE_OFFSET_MS
    : isSameMoment(frame.pts, position.pts)

/**
 * Whether a frame at this position may still be analysed: the position is a recent time
 * after the newest frame.
 */
const mayFollow = (newest: AnalysedFrame, position: FramePosition, nowMs: number) =>
  isTime(position) &&
  position.timeMs > newest.timeMs + MAX_PICTURE_OFFSET_MS &&
  position.timeMs <= nowMs &&
  nowMs - position.timeMs < MAX_ANALYSIS_DELAY_MS

const formatPosition = (position: FramePosition) =>
  isTime(position) ? new Date(position.timeMs).toISOString() : `pts ${position.pts}`
