import { EyrieError } from '@eyrie/contract'
import { errorBody } from '@eyrie/contract/errors'
import type { Shape } from '@eyrie/contract/exports'
import type { SnapshotRequest } from '@eyrie/contract/media'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { MediaAccess } from '../media/frame-picture.ts'
import { toDrawing } from './drawing.ts'
import type { FrameHistory } from './frame-history.ts'
import { type BlurTarget, findHiddenRegions } from './hidden-regions.ts'

export interface SnapshotOptions {
  pts?: number | undefined
  width?: number | undefined
  boxes: boolean
  blur: readonly BlurTarget[]
}

/** Takes pictures of analysed frames. */
export interface ChannelSnapshots {
  /**
   * Returns the analysed frame nearest to `pts`, or the newest, as JPEG. Blurred objects are always those of the same frame.
   * Throws `EyrieError`: `id` if the requested frame is no longer available, `unavailable` if the newest is not, or while
   * media is unreachable.
   */
  capture(
    channel: { id: number; source: number },
    options: SnapshotOptions,
  ): Promise<{ jpeg: Uint8Array<ArrayBuffer>; pts: number }>
}

export interface ChannelSnapshotsOptions {
  media: MediaAccess
  frameHistory: Pick<FrameHistory, 'find'>
  /** The lines and zones of a channel. */
  channelShapes(channel: number): Shape[]
}

const TIMEOUT_MS = 5_000
/** A frame further than this from the requested position shows a different moment. */
const MAX_DISTANCE_TICKS = TICKS_PER_SECOND

export function createChannelSnapshots({
  media,
  frameHistory,
  channelShapes,
}: ChannelSnapshotsOptions): ChannelSnapshots {
  async function requestSnapshot(source: number, request: SnapshotRequest): Promise<Response> {
    const response = await fetch(new URL(`/streams/${source}/snapshot.jpg`, media.url), {
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

  return {
    async capture({ id, source }, { pts, width, boxes, blur }) {
      const frame = frameHistory.find(id, pts)
      if (!frame) throw new EyrieError('unavailable', `channel ${id} has analysed no frame yet`)
      if (pts !== undefined && Math.abs(frame.pts - pts) > MAX_DISTANCE_TICKS)
        throw new EyrieError('id', `channel ${id} has no analysed frame near pts ${pts}`, {
          value: { nearest: frame.pts },
        })
      // The caller of the newest frame did not choose it, so its absence is not the caller's error.
      const frameExpired = (reason: string) =>
        pts === undefined
          ? new EyrieError('unavailable', `${reason}: ask again for a newer one`)
          : new EyrieError('id', reason)
      const response = await requestSnapshot(source, {
        pts: frame.pts,
        ...(width !== undefined && { width }),
        hidden: findHiddenRegions(frame.objects, new Set(blur)),
        ...(boxes && { drawing: toDrawing(frame.objects, channelShapes(id)) }),
      }).catch(error => {
        if (pts === undefined && error instanceof EyrieError && error.code === 'id')
          throw frameExpired(error.message)
        throw error
      })
      // The objects of one frame must neither hide nor mark anything in the picture of another.
      if (Number(response.headers.get('X-Pts')) !== frame.pts)
        throw frameExpired(`the picture at pts ${frame.pts} is no longer available`)
      return { jpeg: new Uint8Array(await response.arrayBuffer()), pts: frame.pts }
    },
  }
}
