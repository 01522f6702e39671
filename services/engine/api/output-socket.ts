import { outputMessage, outputQuery } from '@eyrie/contract'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { WebSocket } from 'ws'
import type { Output } from '../output/output.ts'
import { commonErrors, errorResponses } from './routing/describe-route.ts'
import { readQuery } from './routing/read-request.ts'

/** `GET /output`: a WebSocket of JSON text messages. */
export function serveOutput(app: OpenAPIHono, output: Output): void {
  app.openAPIRegistry.registerPath({
    method: 'get',
    path: '/output',
    summary: 'Follow the output of all channels (WebSocket)',
    description:
      'Browsers cannot set headers on a WebSocket and send their token as `?access_token=`. A consumer acknowledges processed messages with `{"ack": seq}`. At most 64 consumers can be registered.',
    security: [{ bearer: [] }],
    request: { query: outputQuery },
    responses: {
      101: {
        description: 'A WebSocket. All messages after `hello` and an optional `gap` have this form.',
        content: { 'application/json': { schema: outputMessage } },
      },
      ...errorResponses(['syntax', ...commonErrors]),
    },
  })
  app.get(
    '/output',
    serveWebSocket(
      c => readQuery(c, outputQuery),
      query => {
        output.registerConsumer(query)
        let unfollow = () => {}
        return {
          onOpen: (_, socket) => {
            unfollow = output.follow(socket.raw as WebSocket, query)
          },
          onClose: () => unfollow(),
        }
      },
    ),
  )
  handleMethodNotAllowed(app, '/output', ['get'])
}
