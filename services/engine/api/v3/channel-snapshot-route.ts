import { EyrieError, flagParameter, idParameter, integerParameter, listParameter } from '@eyrie/contract'
import { errorBody } from '@eyrie/contract/errors'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import type { ApiContext } from '../operations/api-context.ts'
import { always, refusals } from '../routing/describe-route.ts'
import { readParams, readQuery } from '../routing/read-request.ts'

const path = '/exports/channels/{id}/snapshot.jpg'
const params = z.object({ id: idParameter })
const query = z.strictObject({
  pts: integerParameter(0, Number.MAX_SAFE_INTEGER).optional(),
  width: integerParameter(16, 8192).optional(),
  boxes: flagParameter,
  blur: listParameter(z.enum(['faces', 'persons'])).default([]),
})

/** `GET /exports/channels/{id}/snapshot.jpg`: an analysed frame, on request with its boxes, or without who is in it. */
export function serveSnapshots(
  app: OpenAPIHono,
  context: Pick<ApiContext, 'configuration' | 'snapshots'>,
): void {
  const refusal = (description: string) => ({
    description,
    content: { 'application/json': { schema: errorBody } },
  })
  app.openAPIRegistry.registerPath({
    method: 'get',
    path,
    summary: 'Get the picture of an analysed frame',
    security: [{ bearer: [] }],
    request: { params, query },
    responses: {
      200: {
        description: 'Success',
        content: { 'image/jpeg': { schema: { type: 'string', format: 'binary' } } },
      },
      ...refusals(['syntax', ...always]),
      404: refusal('`id`: There is no such channel, or its picture is no longer kept'),
      503: refusal('`unavailable`: No frame was analysed yet, or media is away'),
    },
  })
  app.get(path.replace('{id}', ':id'), async c => {
    const { id } = readParams(c, params)
    const wish = readQuery(c, query)
    const channel = context.configuration.channels().find(each => each.id === id)
    if (!channel) throw new EyrieError('id', `there is no channel ${id}`)
    const { jpeg, pts } = await context.snapshots.capture(channel, wish)
    return c.body(jpeg, 200, {
      'Content-Type': 'image/jpeg',
      'Cache-Control': 'no-store',
      'X-Pts': String(pts),
    })
  })
  handleMethodNotAllowed(app, path, ['get'])
}
