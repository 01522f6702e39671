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
   * picture may show another frame within a second, because the media service may have no picture of the analysed one.
   * Throws `EyrieError`: `id` if the requested frame is no longer available, and `unavailable` if it may not have been analysed
   * yet, the newest frame is not available, or the media service is unreachable.
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
/** An overloaded machine analyses frames this much later than they were captured. */
const MAX_ANALYSIS_DELAY_MS = 20_000

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
    if (mayFollow(frame, position, now()))
      throw new EyrieError(
        'unavailable',
        `channel ${channel} has analysed no frame near ${describePosition(position)} yet: ask again later`,
      )
    throw new EyrieError(
      'id',
      `channel ${channel} has no analysed frame near ${describePosition(position)}`,
      {
        value: { nearest: 'pts' in position ? frame.pts : new Date(frame.timeMs).toISOString() },
      },
    )
  }

  return {
    async capture({ id, source }, { position, width, boxes, blur }) {
      const frame = findFrame(id, position)
      const request: SnapshotRequest = {
        pts: frame.pts,
        ...(width !== undefined && { width }),
        hidden: findHiddenRegions(frame.objects, new Set(blur)),
        ...(boxes && { drawing: toDrawing(frame.objects, channelShapes(id)) }),
      }

      try {
        const response = await requestSnapshot(media, source, request)
        const pts = Number(response.headers.get('X-Pts'))
        // The boxes and blurred regions belong to one frame and must not be applied to another frame.
        const isExact = boxes || blur.length > 0
        if (isExact ? pts !== frame.pts : !isSameMoment(pts, frame.pts))
          throw new EyrieError('id', `the picture at pts ${frame.pts} is no longer available`)
        const timeMs = Math.round(frame.timeMs + (pts - frame.pts) / TICKS_PER_MS)
        return { jpeg: new Uint8Array(await response.arrayBuffer()), pts, timeMs }
      } catch (error) {
        const isExpired = error instanceof EyrieError && error.code === 'id'
        const isNewestRequested = position === undefined
        // The client did not choose the frame, so a missing frame is not an error of the client.
        if (isExpired && isNewestRequested)
          throw new EyrieError('unavailable', `${error.message}: ask again for a newer one`)
        throw error
      }
    },
  }
}

const isNear = (frame: AnalysedFrame, position: FramePosition) =>
  'pts' in position
    ? isSameMoment(frame.pts, position.pts)
    : Math.abs(frame.timeMs - position.timeMs) <= MAX_PICTURE_OFFSET_MS

/** Returns whether the frame at a time may be analysed later, as it is recent and `frame` is the nearest one so far. */
const mayFollow = (frame: AnalysedFrame, position: FramePosition, nowMs: number) =>
  'timeMs' in position &&
  position.timeMs > frame.timeMs &&
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
