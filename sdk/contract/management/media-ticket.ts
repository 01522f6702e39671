import { z } from 'zod'
import { route } from './management-route.ts'
import { reference } from './record-fields.ts'

export const mediaRoutes = {
  ticket: route({
    method: 'post',
    path: '/media/ticket',
    summary: "Get a ticket for a channel's live view",
    access: 'view',
    body: z.strictObject({ channel_id: reference('channel') }),
    status: 200,
    response: z.object({
      ticket: z.string(),
      /** Seconds. Who watches by then goes on watching. */
      expires_in: z.int(),
      /** Addresses of this management, with the ticket in them: fragmented MP4, the same over a WebSocket, WHEP. */
      fmp4: z.string(),
      ws: z.string(),
      whep: z.string(),
    }),
  }),
}
