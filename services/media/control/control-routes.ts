import { hostname } from 'node:os'
import { controlPath, type MessageFromMedia } from '@eyrie/contract'
import { serveWebSocket } from '@eyrie/kit/serve-web-socket'
import type { HttpBindings } from '@hono/node-server'
import type { Hono } from 'hono'
import type { WSContext } from 'hono/ws'
import { bufferedBytes, closeSocket } from '../http/web-sockets.ts'
import { version } from '../node-gst/index.ts'
import type { Control, Engine } from './engine-control.ts'

/** An engine that lets so much pile up has stopped reading; a new connection starts afresh. */
const BACKLOG_LIMIT_BYTES = 4 << 20
const TOO_SLOW = 4002

/** Where the engine says what it wants: see `@eyrie/contract/media`. */
export function controlRoutes(
  app: Hono<{ Bindings: HttpBindings }>,
  control: Control,
  service: { epoch: number; host: string },
): void {
  app.get(
    controlPath,
    serveWebSocket(
      c => c.env.incoming.socket.localPort,
      port => {
        let engine: Engine
        return {
          onOpen(_, socket) {
            engine = engineBehind(socket)
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

function engineBehind(socket: WSContext): Engine {
  return {
    send(message: MessageFromMedia) {
      if (bufferedBytes(socket) > BACKLOG_LIMIT_BYTES) socket.close(TOO_SLOW, 'the engine does not read')
      else socket.send(JSON.stringify(message))
    },
    close: (code, reason) => closeSocket(socket, code, reason),
  }
}

const isWildcard = (host: string) => host === '0.0.0.0' || host === '::'
