import { outputMessage, outputQuery } from '@eyrie/contract'
import { jsonContent } from '@eyrie/kit/api-docs'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import type { WebSocket } from 'ws'
import type { Output } from '../output/output.ts'
import type { DescribedEndpoint } from './routing/api-revision.ts'
import { COMMON_ERRORS, errorResponses } from './routing/describe-route.ts'
import { readQuery } from './routing/read-request.ts'

/**
 * Creates `GET /output`: a WebSocket that sends the output of the engine as JSON. The
 * output consists of the results of all channels: a message for each analysed frame,
 * changed counter and event.
 */
export function createOutputEndpoint(output: Output): DescribedEndpoint {
  return {
    description: {
      method: 'get',
      path: '/output',
      summary: 'Follow the output of all channels (WebSocket)',
      description:
        'Browsers cannot set headers on a WebSocket: they send the token as `?access_token=`. A consumer acknowledges processed messages with `{"ack": seq}`. At most 64 consumers can be registered.',
      security: [{ bearer: [] }],
      request: { query: outputQuery },
      responses: {
        101: {
          description: 'A WebSocket. All messages except `hello` and `gap` have this form.',
          content: jsonContent(outputMessage),
        },
        ...errorResponses(['syntax', ...COMMON_ERRORS]),
      },
    },
    handle: serveWebSocket(
      c => readQuery(c, outputQuery),
      query => {
        // Fails before the WebSocket is open, so that the client receives an HTTP error.
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
  }
}
