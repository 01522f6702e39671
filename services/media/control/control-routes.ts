import { hostname } from 'node:os'
import { CONTROL_PATH, type MessageFromMedia } from '@eyrie/contract'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import type { HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'
import type { WSContext, WSEvents } from 'hono/ws'
import { bufferedBytes, closeSocket } from '../http/web-sockets.ts'
import { version as gstreamerVersion } from '../node-gst/index.ts'
import type { EngineConnection, EngineControl } from './engine-control.ts'

/** The properties of this media service by which the engine connects to its streams. */
interface MediaService {
  /** Identifies this run of the service. Stream times of different runs are not comparable. */
  epoch: number
  /** Host that the service listens on. */
  host: string
}

/**
 * An engine that leaves more bytes unread is too slow. It is disconnected, and receives the current
 * state when it reconnects.
 */
const MAX_BACKLOG_BYTES = 4 << 20
/** Close code from the range for applications, 4000 to 4999 (RFC 6455, section 7.4.2). */
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
      // The port through which the engine has connected. The streams are at the same port.
      c => c.env.incoming.socket.localPort,
      port => createEngineListeners(control, createHello(service, port)),
    ),
  )
}

/** Creates the first message to an engine. */
function createHello({ epoch, host }: MediaService, port: number): MessageFromMedia {
  return {
    type: 'hello',
    epoch,
    gstreamer: gstreamerVersion,
    hostname: isWildcard(host) ? hostname() : host,
    port,
  }
}

/** Whether a host means all network interfaces, so that clients cannot connect to it. */
const isWildcard = (host: string) => host === '0.0.0.0' || host === '::'

/** Creates the listeners of one WebSocket from an engine. */
function createEngineListeners(control: EngineControl, hello: MessageFromMedia): WSEvents {
  /** Undefined until the WebSocket is open. */
  let engine: EngineConnection | undefined
  return {
    onOpen(_, socket) {
      engine = createEngineConnection(socket)
      control.connect(engine)
      engine.send(hello)
    },
    onMessage({ data }) {
      if (engine) void control.receive(engine, String(data))
    },
    onClose() {
      if (engine) control.disconnect(engine)
    },
  }
}

function createEngineConnection(socket: WSContext): EngineConnection {
  return {
    send(message) {
      if (bufferedBytes(socket) > MAX_BACKLOG_BYTES) {
        socket.close(CLOSE_TOO_SLOW, 'the engine reads too slowly')
      } else {
        socket.send(JSON.stringify(message))
      }
    },
    close: (code, reason) => closeSocket(socket, code, reason),
  }
}
