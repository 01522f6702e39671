import {
  EyrieError,
  flagParameter,
  idParameter,
  integerParameter,
  listParameter,
} from '@eyrie/contract'
import { errorBody } from '@eyrie/contract/errors'
import { jsonContent } from '@eyrie/kit/api-docs'
import { z } from 'zod'
import type { FramePosition } from '../../pictures/frame-history.ts'
import type { ApiContext } from '../operations/api-context.ts'
import type { DescribedEndpoint } from '../routing/api-revision.ts'
import { COMMON_ERRORS, errorResponses, JPEG_RESPONSE } from '../routing/describe-route.ts'
import { readParams, readQuery } from '../routing/read-request.ts'

const params = z.object({ id: idParameter })
/** Which frame is returned, and how it is drawn. */
const query = z
  .strictObject({
    pts: integerParameter(0, Number.MAX_SAFE_INTEGER).optional(),
    time: z.iso
      .datetime({ offset: true })
      .optional()
      .meta({ description: 'Time of capture; the nearest frame within a second is returned' }),
    width: integerParameter(16, 8192).optional(),
    boxes: flagParameter,
    blur: listParameter(z.enum(['faces', 'persons'])).default([]),
  })
  .refine(({ pts, time }) => pts === undefined || time === undefined, {
    error: 'pts and time exclude each other: send one of them',
    path: ['time'],
  })

/**
 * Creates `GET /exports/channels/{id}/snapshot.jpg`: an analysed frame as a JPEG, optionally with
 * the boxes of its objects or with blurred faces or persons.
 */
export function createSnapshotEndpoint({
  configuration,
  snapshots,
}: Pick<ApiContext, 'configuration' | 'snapshots'>): DescribedEndpoint {
  return {
    description: {
      method: 'get',
      path: '/exports/channels/{id}/snapshot.jpg',
      summary: 'Get a snapshot of an analysed frame',
      security: [{ bearer: [] }],
      request: { params, query },
      responses: {
        200: JPEG_RESPONSE,
        ...errorResponses(['syntax', ...COMMON_ERRORS]),
        404: {
          description: '`id`: The channel does not exist, or the frame is no longer stored',
          content: jsonContent(errorBody),
        },
        503: {
          description:
            '`unavailable`: No frame has been analysed yet, or the media service is disconnected',
          content: jsonContent(errorBody),
        },
      },
    },
    async handle(c) {
      const { id } = readParams(c, params)
      const { pts: requestedPts, time, ...options } = readQuery(c, query)
      const channel = configuration.channels().find(candidate => candidate.id === id)
      if (!channel) throw new EyrieError('id', `channel ${id} does not exist`)
      const position = toPosition(requestedPts, time)
      const { jpeg, pts, timeMs } = await snapshots.capture(channel, { ...options, position })
      return c.body(jpeg, 200, {
        'Content-Type': 'image/jpeg',
        'Cache-Control': 'no-store',
        'X-Pts': String(pts),
        'X-Time': new Date(timeMs).toISOString(),
      })
    },
  }
}

/** Returns the requested frame; undefined for the newest one. */
function toPosition(pts: number | undefined, time: string | undefined): FramePosition | undefined {
  if (pts !== undefined) return { pts }
  return time === undefined ? undefined : { timeMs: Date.parse(time) }
}
