import { EyrieError } from '@eyrie/contract'
import { errorBody } from '@eyrie/contract/errors'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { z } from 'zod'
import type { PictureStore } from '../../pictures/picture-store.ts'
import { commonErrors, errorResponses } from '../routing/describe-route.ts'

const params = z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) })

/** `GET /pictures/{sha256}`: the picture of an event. Its content never changes, so clients may cache it forever. */
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
        description: '`id`: The picture does not exist or has been deleted',
        content: { 'application/json': { schema: errorBody } },
      },
      ...errorResponses(commonErrors),
    },
  })
  app.get('/pictures/:sha256', async c => {
    const parsed = params.safeParse(c.req.param())
    const jpeg = parsed.success ? await pictures.read(parsed.data.sha256) : undefined
    if (!jpeg) throw new EyrieError('id', 'the picture does not exist or has been deleted')
    return c.body(jpeg, 200, {
      'Content-Type': 'image/jpeg',
      'Cache-Control': 'private, max-age=31536000, immutable',
    })
  })
  handleMethodNotAllowed(app, '/pictures/{sha256}', ['get'])
}
