import { z } from 'zod'
import { route } from './management-route.ts'
import { reference } from './record-fields.ts'

/**
 * The route that grants access to the live view of a channel. The addresses in the response are
 * those of the management service, and contain a ticket that names the caller. The media service
 * itself accepts `ticket` in place of a token.
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
      ticket: z.string().meta({
        description:
          'Opens the stream at the address of its media service. Views that are opened there continue after the access of the user has ended',
      }),
      expires_in: z.int().meta({
        description:
          'Seconds until the ticket expires. Live views that are open at that time continue',
      }),
      fmp4: z.string().meta({
        description:
          'URL of the fragmented MP4 stream, including a ticket. The view ends with the access of the user',
      }),
      ws: z.string().meta({ description: 'URL of the same stream over WebSocket' }),
      whep: z.string().meta({ description: 'WHEP endpoint for WebRTC' }),
    }),
  }),
}
