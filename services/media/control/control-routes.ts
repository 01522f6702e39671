import { hostname } from 'node:os'
import { controlPath, type MessageFromMedia } from '@eyrie/contract'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import type { HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'
import type { WSContext } from 'hono/ws'
import { bufferedBytes, closeSocket } from '../http/web-sockets.ts'
import { version } from '../node-gst/index.ts'
import type { EngineConnection, EngineControl } from './engine-control.ts'

/** An engine with this much unsent data no longer reads. It is disconnected, and gets the current state when it reconnects. */
const MAX_BACKLOG_BYTES = 4 << 20
const CLOSE_TOO_SLOW = 4002

/** The WebSocket by which the engine configures sources and receives notifications: see `@eyrie/contract/media`. */
export function controlRoutes(
  app: Hono<{ Bindings: HttpBindings }>,
  control: EngineControl,
  service: { epoch: number; host: string },
): void {
  app.get(
    controlPath,
    serveWebSocket(
      c => c.env.incoming.socket.localPort,
      port => {
        let engine: EngineConnection
        return {
          onOpen(_, socket) {
            engine = createEngineConnection(socket)
            control.connect(engine)
            engine.send({
              type: 'hello',
              epoch: service.epoch,
              gstreamer: version,
              hostname: isWildcard(service.host) ? hostname() : service.host,
              port,
            })
          },
          onMessage: ({ data }) => void control.receive(engine, String(data)),
          onClose: () => control.disconnect(engine),
        }
      },
    ),
  )
}

function createEngineConnection(socket: WSContext): EngineConnection {
  return {
    send(message: MessageFromMedia) {
      if (bufferedBytes(socket) > MAX_BACKLOG_BYTES)
        socket.close(CLOSE_TOO_SLOW, 'the engine reads too slowly')
      else socket.send(JSON.stringify(message))
    },
    close: (code, reason) => closeSocket(socket, code, reason),
  }
}

const isWildcard = (host: string) => host === '0.0.0.0' || host === '::'
