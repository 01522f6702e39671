import { EyrieError } from '@eyrie/contract'
import { errorBody } from '@eyrie/contract/errors'
import type { Shape } from '@eyrie/contract/exports'
import type { SnapshotRequest } from '@eyrie/contract/media'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import { fetchService } from '@eyrie/kit'
import type { MediaAccess } from '../media/frame-picture.ts'
import { toDrawing } from './drawing.ts'
import type { AnalysedFrame, FrameHistory } from './frame-history.ts'
import { type BlurTarget, findHiddenRegions } from './hidden-regions.ts'

/** The picture that a client requests. */
export interface SnapshotOptions {
  /** Position in 90 kHz ticks; the newest frame by default. */
  pts?: number | undefined
  /** Width of the picture in pixels; that of the source by default. */
  width?: number | undefined
  /** Whether to draw the detected objects, lines and zones. */
  boxes: boolean
  blur: readonly BlurTarget[]
}

/**
 * Pictures of the frames that a channel has analysed, optionally with boxes around objects or with blurred faces and
 * persons.
 */
export interface ChannelSnapshots {
  /**
   * Returns the analysed frame nearest to `pts`, or the newest analysed frame, as JPEG. Throws `EyrieError`: `id` if the
   * requested frame is no longer available, and `unavailable` if the newest frame is not available or the media service
   * is unreachable.
   */
  capture(
    channel: { id: number; source: number },
    options: SnapshotOptions,
  ): Promise<{ jpeg: Uint8Array<ArrayBuffer>; pts: number }>
}

export interface ChannelSnapshotsOptions {
  media: MediaAccess
  frameHistory: Pick<FrameHistory, 'find'>
  /** Returns the lines and zones of a channel. */
  channelShapes(channel: number): Shape[]
}

const TIMEOUT_MS = 5_000
/** A frame at a greater distance from the requested position shows another moment. */
const MAX_DISTANCE_TICKS = TICKS_PER_SECOND

export function createChannelSnapshots({
  media,
  frameHistory,
  channelShapes,
}: ChannelSnapshotsOptions): ChannelSnapshots {
  function findFrame(channel: number, pts: number | undefined): AnalysedFrame {
    const frame = frameHistory.find(channel, pts)
    if (!frame) throw new EyrieError('unavailable', `channel ${channel} has analysed no frame yet`)
    if (pts !== undefined && Math.abs(frame.pts - pts) > MAX_DISTANCE_TICKS)
      throw new EyrieError('id', `channel ${channel} has no analysed frame near pts ${pts}`, {
        value: { nearest: frame.pts },
      })
    return frame
  }

  return {
    async capture({ id, source }, { pts, width, boxes, blur }) {
      const frame = findFrame(id, pts)
      const request: SnapshotRequest = {
        pts: frame.pts,
        ...(width !== undefined && { width }),
        hidden: findHiddenRegions(frame.objects, new Set(blur)),
        ...(boxes && { drawing: toDrawing(frame.objects, channelShapes(id)) }),
      }

      try {
        const response = await requestSnapshot(media, source, request)
        // The boxes and blurred regions belong to one frame and must not be applied to another frame.
        if (Number(response.headers.get('X-Pts')) !== frame.pts)
          throw new EyrieError('id', `the picture at pts ${frame.pts} is no longer available`)
        return { jpeg: new Uint8Array(await response.arrayBuffer()), pts: frame.pts }
      } catch (error) {
        const isExpired = error instanceof EyrieError && error.code === 'id'
        const isNewestRequested = pts === undefined
        // The client did not choose the frame, so a missing frame is not an error of the client.
        if (isExpired && isNewestRequested)
          throw new EyrieError('unavailable', `${error.message}: ask again for a newer one`)
        throw error
      }
    },
  }
}

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
