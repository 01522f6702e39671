import { hostname } from 'node:os'
import { CONTROL_PATH, type MessageFromMedia } from '@eyrie/contract'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import type { HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'
import type { WSContext } from 'hono/ws'
import { bufferedBytes, closeSocket } from '../http/web-sockets.ts'
import { version } from '../node-gst/index.ts'
import type { EngineConnection, EngineControl } from './engine-control.ts'

/** What the engine must know about this media service to connect to its streams. */
interface MediaService {
  /** Identifies this run of the service. Stream times of different runs are not comparable. */
  epoch: number
  /** Host that the service listens on. */
  host: string
}

/**
 * An engine with more unsent data is too slow. It is disconnected, and receives the current
 * state when it reconnects.
 */
const MAX_BACKLOG_BYTES = 4 << 20
/** Close code of a WebSocket, from the range for applications (RFC 6455, section 7.4.2). */
const CLOSE_TOO_SLOW = 4002

/**
 * Serves the WebSocket by which the engine configures the sources of the media service and receives
 * notifications. The messages are defined in `@eyrie/contract/media`.
 */
export function controlRoutes(
  app: Hono<{ Bindings: HttpBindings }>,
  control: EngineControl,
  service: MediaService,
): void {
  app.get(
    CONTROL_PATH,
    serveWebSocket(
      // The engine builds the addresses of the streams from the port through which it has
      // connected.
      c => c.env.incoming.socket.localPort,
      port => {
        let engine: EngineConnection | undefined
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
          onMessage({ data }) {
            if (engine) void control.receive(engine, String(data))
          },
          onClose() {
            if (engine) control.disconnect(engine)
          },
        }
      },
    ),
  )
}

function createEngineConnection(socket: WSContext): EngineConnection {
  return {
    send(message: MessageFromMedia) {
      if (bufferedBytes(socket) > MAX_BACKLOG_BYTES) {
        socket.close(CLOSE_TOO_SLOW, 'the engine reads too slowly')
        return
      }
      socket.send(JSON.stringify(message))
    },
    close: (code, reason) => closeSocket(socket, code, reason),
  }
}

/** Whether a host means all network interfaces, so that clients cannot connect to it. */
const isWildcard = (host: string) => host === '0.0.0.0' || host === '::'
