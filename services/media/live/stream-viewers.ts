import type { WSContext } from 'hono/ws'
import { bufferedBytes, closeSocket } from '../http/web-sockets.ts'
import type { Stream, Viewer } from '../stream/live-stream.ts'
import type { PlayableTrack } from '../stream/sample-entry.ts'

const NORMAL = 1000

/** The stream information as text, then init segment and fragments as binary messages. */
export function socketViewer(socket: WSContext): Viewer<PlayableTrack> {
  const send = (bytes: Uint8Array) => socket.send(bytes as Uint8Array<ArrayBuffer>)
  return {
    begin(info, init) {
      socket.send(JSON.stringify(info))
      send(init)
    },
    fragment: bytes => send(bytes),
    backlog: () => bufferedBytes(socket),
    end: reason => closeSocket(socket, NORMAL, reason),
  }
}

/** One file that goes on for as long as somebody reads it. It ends where another init segment would have to follow. */
export function chunkedBody(stream: Stream<PlayableTrack>): ReadableStream {
  let leave = () => {}
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let begun = false
        let ended = false
        const viewer: Viewer<PlayableTrack> = {
          begin(_, init) {
            if (begun) return end()
            begun = true
            controller.enqueue(init)
          },
          // Who ends a view for what a picture has shown goes on to show the picture.
          fragment: bytes => void (ended || controller.enqueue(bytes)),
          backlog: () => -(controller.desiredSize ?? 0),
          end,
        }
        leave = stream.watch(viewer)

        function end() {
          ended = true
          leave()
          controller.close()
        }
      },
      cancel: () => leave(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  )
}
