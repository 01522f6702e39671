import type { WSContext } from 'hono/ws'
import { bufferedBytes, closeSocket } from '../http/web-sockets.ts'
import type { Stream, Viewer } from '../stream/live-stream.ts'
import type { PlayableTrack } from '../stream/sample-entry.ts'

const NORMAL_CLOSURE = 1000

/** Sends the stream information as a text message, then the init segment and fragments as binary messages. */
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

/** Returns the stream as one endless MP4 file. It ends where a new init segment would be necessary. */
export function createChunkedBody(stream: Stream<PlayableTrack>): ReadableStream {
  let leave = () => {}
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let state: 'waiting' | 'started' | 'ended' = 'waiting'
        const viewer: Viewer<PlayableTrack> = {
          begin(_, init) {
            if (state === 'started') return end()
            state = 'started'
            controller.enqueue(init)
          },
          fragment(bytes) {
            // A wrapper may end its viewer while it handles a unit, and then still pass on that unit.
            if (state !== 'ended') controller.enqueue(bytes)
          },
          backlog: () => -(controller.desiredSize ?? 0),
          end,
        }
        leave = stream.watch(viewer)

        function end() {
          state = 'ended'
          leave()
          controller.close()
        }
      },
      cancel: () => leave(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  )
}
