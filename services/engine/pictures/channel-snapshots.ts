import { EyrieError } from '@eyrie/contract'
import { errorBody } from '@eyrie/contract/errors'
import type { Shape } from '@eyrie/contract/exports'
import type { SnapshotRequest } from '@eyrie/contract/media'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { MediaAccess } from '../media/frame-picture.ts'
import { toDrawing } from './drawing.ts'
import type { FrameHistory } from './frame-history.ts'
import { type Blurred, hiddenRegions } from './hidden-regions.ts'

export interface SnapshotWish {
  pts?: number | undefined
  width?: number | undefined
  boxes: boolean
  blur: readonly Blurred[]
}

/** Pictures of analysed frames. */
export interface ChannelSnapshots {
  /**
   * The analysed frame nearest to the `pts` asked for, or the newest, as JPEG. Throws EyrieError: `id` where the one
   * asked for is gone, `unavailable` where there is no newest one or media is away. Never shows whom it was to hide.
   */
  take(
    channel: { id: number; source: number },
    wish: SnapshotWish,
  ): Promise<{ jpeg: Uint8Array<ArrayBuffer>; pts: number }>
}

export interface ChannelSnapshotsOptions {
  media: MediaAccess
  frameHistory: Pick<FrameHistory, 'find'>
  /** A channel's lines and zones. */
  channelShapes(channel: number): Shape[]
}

const LIMIT_MS = 5_000
/** A frame further from the one asked for shows another moment. */
const NEAR_TICKS = TICKS_PER_SECOND

export function createChannelSnapshots({
  media,
  frameHistory,
  channelShapes,
}: ChannelSnapshotsOptions): ChannelSnapshots {
  async function ask(source: number, request: SnapshotRequest): Promise<Response> {
    const response = await fetch(new URL(`/streams/${source}/snapshot.jpg`, media.url), {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(media.token && { Authorization: `Bearer ${media.token}` }),
      },
      body: JSON.stringify(request),
      signal: AbortSignal.timeout(LIMIT_MS),
    }).catch(cause => {
      throw new EyrieError('unavailable', 'media is not reachable: ask again later', { cause })
    })
    if (response.ok) return response
    const refusal = errorBody.safeParse(await response.json().catch(() => undefined))
    if (!refusal.success || refusal.data.code === 'auth')
      throw new EyrieError('unavailable', `media answered ${response.status}`)
    const { code, reason, value } = refusal.data
    throw new EyrieError(code, reason, { status: response.status, ...(value && { value }) })
  }

  return {
    async take({ id, source }, { pts, width, boxes, blur }) {
      const frame = frameHistory.find(id, pts)
      if (!frame) throw new EyrieError('unavailable', `channel ${id} has analysed no frame yet`)
      if (pts !== undefined && Math.abs(frame.pts - pts) > NEAR_TICKS)
        throw new EyrieError('id', `channel ${id} has analysed no frame near pts ${pts}, or it is gone`, {
          value: { nearest: frame.pts },
        })
      // Which frame is the newest was not the caller's choice.
      const gone = (reason: string) =>
        pts === undefined
          ? new EyrieError('unavailable', `${reason}: ask again for a newer one`)
          : new EyrieError('id', reason)
      const response = await ask(source, {
        pts: frame.pts,
        ...(width !== undefined && { width }),
        hidden: hiddenRegions(frame.objects, new Set(blur)),
        ...(boxes && { drawing: toDrawing(frame.objects, channelShapes(id)) }),
      }).catch(error => {
        if (pts === undefined && error instanceof EyrieError && error.code === 'id') throw gone(error.message)
        throw error
      })
      // What was found in one frame neither hides nor marks anybody in another.
      if (Number(response.headers.get('X-Pts')) !== frame.pts)
        throw gone(`the picture at pts ${frame.pts} is no longer kept`)
      return { jpeg: new Uint8Array(await response.arrayBuffer()), pts: frame.pts }
    },
  }
}
