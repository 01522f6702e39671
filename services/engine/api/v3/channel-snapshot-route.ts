import { EyrieError, flagParameter, idParameter, integerParameter, listParameter } from '@eyrie/contract'
import { errorBody } from '@eyrie/contract/errors'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import type { ApiContext } from '../operations/api-context.ts'
import { commonErrors, errorResponses } from '../routing/describe-route.ts'
import { readParams, readQuery } from '../routing/read-request.ts'

const path = '/exports/channels/{id}/snapshot.jpg'
const params = z.object({ id: idParameter })
const query = z.strictObject({
  pts: integerParameter(0, Number.MAX_SAFE_INTEGER).optional(),
  width: integerParameter(16, 8192).optional(),
  boxes: flagParameter,
  blur: listParameter(z.enum(['faces', 'persons'])).default([]),
})

/** `GET /exports/channels/{id}/snapshot.jpg`: an analysed frame, optionally with boxes or blurred faces or persons. */
export function serveSnapshots(
  app: OpenAPIHono,
  context: Pick<ApiContext, 'configuration' | 'snapshots'>,
): void {
  const errorResponse = (description: string) => ({
    description,
    content: { 'application/json': { schema: errorBody } },
  })
  app.openAPIRegistry.registerPath({
    method: 'get',
    path,
    summary: 'Get a snapshot of an analysed frame',
    security: [{ bearer: [] }],
    request: { params, query },
    responses: {
      200: {
        description: 'Success',
        content: { 'image/jpeg': { schema: { type: 'string', format: 'binary' } } },
      },
      ...errorResponses(['syntax', ...commonErrors]),
      404: errorResponse('`id`: The channel does not exist, or the frame is no longer stored'),
      503: errorResponse('`unavailable`: No frame has been analysed yet, or media is disconnected'),
    },
  })
  app.get(path.replace('{id}', ':id'), async c => {
    const { id } = readParams(c, params)
    const options = readQuery(c, query)
    const channel = context.configuration.channels().find(candidate => candidate.id === id)
    if (!channel) throw new EyrieError('id', `channel ${id} does not exist`)
    const { jpeg, pts } = await context.snapshots.capture(channel, options)
    return c.body(jpeg, 200, {
      'Content-Type': 'image/jpeg',
      'Cache-Control': 'no-store',
      'X-Pts': String(pts),
    })
  })
  handleMethodNotAllowed(app, path, ['get'])
}
