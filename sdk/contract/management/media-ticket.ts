import { z } from 'zod'
import { route } from './management-route.ts'
import { reference } from './record-fields.ts'

/**
 * The route that grants access to the live view of a channel. The media service, which serves live
 * views, accepts the ticket in place of a sign-in.
 */
export const mediaRoutes = {
  ticket: route({
    method: 'post',
    path: '/media/ticket',
    summary: 'Create a ticket for the live view of a channel',
    access: 'view',
    body: z.strictObject({ channel_id: reference('channel') }),
    status: 200,
    response: z.object({
      ticket: z.string(),
      expires_in: z.int().meta({
        description:
          'Seconds until the ticket expires. Live views that are open at that time continue',
      }),
      fmp4: z
        .string()
        .meta({ description: 'URL of the fragmented MP4 stream, including the ticket' }),
      ws: z.string().meta({ description: 'URL of the same stream over WebSocket' }),
      whep: z.string().meta({ description: 'WHEP endpoint for WebRTC' }),
    }),
  }),
}
