import { EyrieError } from '@eyrie/contract'
import { errorBody } from '@eyrie/contract/errors'
import type { Shape } from '@eyrie/contract/exports'
import type { SnapshotRequest } from '@eyrie/contract/media'
import { MAX_PICTURE_OFFSET_MS } from '@eyrie/contract/object'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { fetchService } from '@eyrie/kit'
import { isSameMoment, type MediaAccess } from '../media/frame-picture.ts'
import { toDrawing } from './drawing.ts'
import type { AnalysedFrame, FrameHistory, FramePosition } from './frame-history.ts'
import { type BlurTarget, findHiddenRegions } from './hidden-regions.ts'

/** The picture that a client requests. */
export interface SnapshotOptions {
  /** The newest frame by default. */
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
 * Pictures of the frames that a channel has analysed, optionally with boxes around objects or with blurred faces and
 * persons.
 */
export interface ChannelSnapshots {
  /**
   * Returns the analysed frame nearest to a position, or the newest analysed frame, as JPEG. Without boxes and blur, the
   * picture may show another frame within a second, because the media service may have no picture of the analysed one, or
   * because an overloaded machine has analysed none near a time.
   * Throws `EyrieError`: `id` if the requested frame is no longer available, and `unavailable` if it may arrive later, the newest
   * frame is not available, or the media service is unreachable.
   */
  capture(channel: { id: number; source: number }, options: SnapshotOptions): Promise<ChannelSnapshot>
}

export interface ChannelSnapshotsOptions {
  media: MediaAccess
  frameHistory: Pick<FrameHistory, 'find'>
  /** Returns the lines and zones of a channel. */
  channelShapes(channel: number): Shape[]
  /** Epoch ms. */
  now?(): number
}

const TIMEOUT_MS = 5_000
const TICKS_PER_MS = TICKS_PER_SECOND / 1000
/** On an overloaded machine, a frame may be analysed this much later than it was captured. */
const MAX_ANALYSIS_DELAY_MS = 60_000
/** Distance from an analysed frame within which stream time and time of capture grow alike. */
const MAX_EXTRAPOLATION_MS = 10_000

export function createChannelSnapshots({
  media,
  frameHistory,
  channelShapes,
  now = Date.now,
}: ChannelSnapshotsOptions): ChannelSnapshots {
  function findFrame(channel: number, position: FramePosition | undefined): AnalysedFrame {
    const frame = frameHistory.find(channel, position)
    if (!frame) throw new EyrieError('unavailable', `channel ${channel} has analysed no frame yet`)
    if (!position || isNear(frame, position)) return frame
    throw createMissingError(channel, frame, position)
  }

  /** Returns the frame for which media is asked. Only analysed frames have objects. */
  function findRequestedFrame(
    channel: number,
    position: FramePosition | undefined,
    isExact: boolean,
  ): AnalysedFrame {
    if (isExact || !position || !('timeMs' in position)) return findFrame(channel, position)
    const frame = frameHistory.find(channel, position)
    const distanceMs = frame ? position.timeMs - frame.timeMs : Number.POSITIVE_INFINITY
    if (!frame || isNear(frame, position) || Math.abs(distanceMs) > MAX_EXTRAPOLATION_MS)
      return findFrame(channel, position)
    const pts = Math.max(0, Math.round(frame.pts + distanceMs * TICKS_PER_MS))
    return { pts, timeMs: position.timeMs, objects: [] }
  }

  /** Returns the time of a picture. The analysed frame nearest to it knows it best: while a camera is lost, time passes alone. */
  function findTime(channel: number, pts: number, requested: AnalysedFrame): number {
    const analysed = frameHistory.find(channel, { pts })
    const known = analysed && isSameMoment(analysed.pts, pts) ? analysed : requested
    return Math.round(known.timeMs + (pts - known.pts) / TICKS_PER_MS)
  }

  function createMissingError(channel: number, frame: AnalysedFrame, position: FramePosition): EyrieError {
    const missing = `channel ${channel} has no frame near ${describePosition(position)}`
    if (mayFollow(frame, position, now()))
      return new EyrieError('unavailable', `${missing} yet: ask again later`)
    const nearest = 'pts' in position ? frame.pts : new Date(frame.timeMs).toISOString()
    return new EyrieError('id', missing, { value: { nearest } })
  }

  return {
    async capture({ id, source }, { position, width, boxes, blur }) {
      // The boxes and blurred regions belong to one frame and must not be applied to another frame.
      const isExact = boxes || blur.length > 0
      const frame = findRequestedFrame(id, position, isExact)
      const request: SnapshotRequest = {
        pts: frame.pts,
        ...(width !== undefined && { width }),
        hidden: findHiddenRegions(frame.objects, new Set(blur)),
        ...(boxes && { drawing: toDrawing(frame.objects, channelShapes(id)) }),
      }

      try {
        const response = await requestSnapshot(media, source, request)
        const pts = Number(response.headers.get('X-Pts'))
        if (isExact ? pts !== frame.pts : !isSameMoment(pts, frame.pts))
          throw new EyrieError('id', `the picture at pts ${frame.pts} is no longer available`)
        const timeMs = findTime(id, pts, frame)
        const isWrongMoment =
          position && 'timeMs' in position && Math.abs(timeMs - position.timeMs) > MAX_PICTURE_OFFSET_MS
        if (isWrongMoment) throw createMissingError(id, { ...frame, timeMs }, position)
        return { jpeg: new Uint8Array(await response.arrayBuffer()), pts, timeMs }
      } catch (error) {
        const isExpired = error instanceof EyrieError && error.code === 'id'
        if (!isExpired) throw error
        // The client did not choose the frame, so a missing frame is not an error of the client.
        if (position === undefined)
          throw new EyrieError('unavailable', `${error.message}: ask again for a newer one`)
        const newest = frameHistory.find(id)
        if (newest && mayFollow(newest, position, now())) throw createMissingError(id, newest, position)
        throw error
      }
    },
  }
}

const isNear = (frame: AnalysedFrame, position: FramePosition) =>
  'pts' in position
    ? isSameMoment(frame.pts, position.pts)
    : Math.abs(frame.timeMs - position.timeMs) <= MAX_PICTURE_OFFSET_MS

/** Returns whether the frame at a recent time may arrive later, because it is later than all frames so far. */
const mayFollow = (newest: AnalysedFrame, position: FramePosition, nowMs: number) =>
  'timeMs' in position &&
  position.timeMs > newest.timeMs + MAX_PICTURE_OFFSET_MS &&
  position.timeMs <= nowMs &&
  nowMs - position.timeMs < MAX_ANALYSIS_DELAY_MS

const describePosition = (position: FramePosition) =>
  'pts' in position ? `pts ${position.pts}` : new Date(position.timeMs).toISOString()

/** Requests a picture from the media service. Throws the media service's own error as `EyrieError`. */
async function requestSnapshot(
  media: MediaAccess,
  source: number,
  request: SnapshotRequest,
): Promise<Response> {
  const response = await fetchService(media.url, `/streams/${source}/snapshot.jpg`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(media.token && { Authorization: `Bearer ${media.token}` }),
    },
    body: JSON.stringify(request),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(cause => {
    throw new EyrieError('unavailable', 'media is not reachable: ask again later', { cause })
  })
  if (response.ok) return response

  const error = errorBody.safeParse(await response.json().catch(() => undefined))
  if (!error.success || error.data.code === 'auth')
    throw new EyrieError('unavailable', `media answered ${response.status}`)
  const { code, reason, value } = error.data
  throw new EyrieError(code, reason, { status: response.status, ...(value && { value }) })
}
