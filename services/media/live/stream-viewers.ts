import type { WSContext } from 'hono/ws'
import { bufferedBytes, closeSocket } from '../http/web-sockets.ts'
import type { Stream, Viewer } from '../stream/live-stream.ts'
import type { PlayableTrack } from '../stream/sample-entry.ts'

const NORMAL_CLOSURE = 1000

// Viewers pass the fragments of a live stream, in the format MP4, to a client.

/**
 * Creates a viewer that sends a stream over a WebSocket: the stream information as a text message, then the init segment and the
 * fragments as binary messages.
 */
export function createSocketViewer(socket: WSContext): Viewer<PlayableTrack> {
  const send = (bytes: Uint8Array) => socket.send(bytes as Uint8Array<ArrayBuffer>)
  return {
    begin(info, init) {
      socket.send(JSON.stringify(info))
      send(init)
    },
    fragment: bytes => send(bytes),
    backlog: () => bufferedBytes(socket),
    end: reason => closeSocket(socket, NORMAL_CLOSURE, reason),
  }
}

/** Returns a stream as an endless MP4 file, for the body of a response. The file ends when a new init segment is necessary. */
export function createChunkedBody(stream: Stream<PlayableTrack>): ReadableStream {
  let leave = () => {}
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let phase: 'waiting' | 'started' | 'ended' = 'waiting'
        const viewer: Viewer<PlayableTrack> = {
          begin(_, init) {
            if (phase === 'started') return end()
            phase = 'started'
            controller.enqueue(init)
          },
          fragment(bytes) {
            // A stream with sound may end the viewer while it handles a unit, and then still pass on this unit.
            if (phase !== 'ended') controller.enqueue(bytes)
          },
          backlog: () => -(controller.desiredSize ?? 0),
          end,
        }
        leave = stream.watch(viewer)

        function end() {
          phase = 'ended'
          leave()
          controller.close()
        }
      },
      cancel: () => leave(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  )
}
