import { outputMessage, outputQuery } from '@eyrie/contract'
import { handleMethodNotAllowed } from '@eyrie/kit/http-errors'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { WebSocket } from 'ws'
import type { Output } from '../output/output.ts'
import { always, refusals } from './routing/describe-route.ts'
import { readQuery } from './routing/read-request.ts'

/** `GET /output`: a WebSocket of JSON text messages. */
export function serveOutput(app: OpenAPIHono, output: Output): void {
  app.openAPIRegistry.registerPath({
    method: 'get',
    path: '/output',
    summary: 'Follow the output of channels (WebSocket)',
    description:
      'Browsers, which cannot set headers on a WebSocket, send their token as `?access_token=`. A consumer acknowledges what it needs no longer by messages `{"ack": seq}`; there may be 64 of them.',
    security: [{ bearer: [] }],
    request: { query: outputQuery },
    responses: {
      101: {
        description: 'A WebSocket; messages after `hello` and perhaps `gap` are of this form',
        content: { 'application/json': { schema: outputMessage } },
      },
      ...refusals(['syntax', ...always]),
    },
  })
  app.get(
    '/output',
    serveWebSocket(
      c => readQuery(c, outputQuery),
      query => {
        output.registerConsumer(query)
        let leave = () => {}
        return {
          onOpen: (_, socket) => {
            leave = output.follow(socket.raw as WebSocket, query)
          },
          onClose: () => leave(),
        }
      },
    ),
  )
  handleMethodNotAllowed(app, '/output', ['get'])
}
