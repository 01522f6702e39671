import { EyrieError } from '@eyrie/contract'
import { errorBody } from '@eyrie/contract/errors'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import type { PictureStore } from '../../pictures/picture-store.ts'
import { always, refusals } from '../routing/describe-route.ts'

const params = z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) })

/** `GET /pictures/{sha256}`: the picture that an event names. It never changes, so it may be cached for ever. */
export function servePictures(app: OpenAPIHono, pictures: Pick<PictureStore, 'read'>): void {
  app.openAPIRegistry.registerPath({
    method: 'get',
    path: '/pictures/{sha256}',
    summary: 'Get the picture of an event',
    security: [{ bearer: [] }],
    request: { params },
    responses: {
      200: {
        description: 'Success',
        content: { 'image/jpeg': { schema: { type: 'string', format: 'binary' } } },
      },
      404: {
        description: '`id`: No such picture is kept, or no longer',
        content: { 'application/json': { schema: errorBody } },
      },
      ...refusals(always),
    },
  })
  app.get('/pictures/:sha256', async c => {
    const asked = params.safeParse(c.req.param())
    const jpeg = asked.success ? await pictures.read(asked.data.sha256) : undefined
    if (!jpeg) throw new EyrieError('id', 'no such picture is kept, or no longer')
    return c.body(jpeg, 200, {
      'Content-Type': 'image/jpeg',
      'Cache-Control': 'private, max-age=31536000, immutable',
    })
  })
  handleMethodNotAllowed(app, '/pictures/{sha256}', ['get'])
}
