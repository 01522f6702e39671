import { EyrieError } from '@eyrie/contract'
import { errorBody } from '@eyrie/contract/errors'
import { jsonContent } from '@eyrie/kit/api-docs'
import { z } from 'zod'
import type { PictureStore } from '../../pictures/picture-store.ts'
import type { DescribedEndpoint } from '../routing/api-revision.ts'
import { COMMON_ERRORS, errorResponses, JPEG_RESPONSE } from '../routing/describe-route.ts'

const params = z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) })

/**
 * Creates `GET /pictures/{sha256}`: the picture of an event as a JPEG. Clients may cache it
 * forever, because the address contains the digest of the content.
 */
export function createPictureEndpoint(pictures: Pick<PictureStore, 'read'>): DescribedEndpoint {
  return {
    description: {
      method: 'get',
      path: '/pictures/{sha256}',
      summary: 'Get the picture of an event',
      security: [{ bearer: [] }],
      request: { params },
      responses: {
        200: JPEG_RESPONSE,
        404: {
          description: '`id`: The picture does not exist or has been deleted',
          content: jsonContent(errorBody),
        },
        ...errorResponses(COMMON_ERRORS),
      },
    },
    async handle(c) {
      const parsed = params.safeParse(c.req.param())
      const jpeg = parsed.success ? await pictures.read(parsed.data.sha256) : undefined
      if (!jpeg) throw new EyrieError('id', 'the picture does not exist or has been deleted')
      return c.body(jpeg, 200, {
        'Content-Type': 'image/jpeg',
        'Cache-Control': 'private, max-age=31536000, immutable',
      })
    },
  }
}
