import type { WSContext, WSEvents } from 'hono/ws'
import { bufferedBytes, closeSocket } from '../http/web-sockets.ts'
import type { Stream, Viewer } from '../stream/live-stream.ts'
import type { PlayableTrack } from '../stream/sample-entry.ts'

// Close codes of a WebSocket (RFC 6455, section 7.4.1).
const NORMAL_CLOSURE = 1000
const INTERNAL_ERROR = 1011

/**
 * Returns the listeners of a WebSocket that sends a stream. The socket is closed if the stream
 * cannot be opened.
 */
export function createViewerEvents(openStream: () => Promise<Stream<PlayableTrack>>): WSEvents {
  let leave: (() => void) | undefined
  let isClosed = false

  async function watch(socket: WSContext) {
    const stream = await openStream()
    leave = stream.watch(createSocketViewer(socket))
    // The viewer may have disconnected while the stream was opened.
    if (isClosed) leave()
  }

  return {
    onOpen: (_event, socket) =>
      void watch(socket).catch(({ message }: Error) =>
        closeSocket(socket, INTERNAL_ERROR, `failed to open the stream: ${message}`),
      ),
    onClose() {
      isClosed = true
      leave?.()
    },
  }
}

/**
 * Creates a viewer that sends a live stream over a WebSocket: the stream information as a text
 * message, then the init segment and the fragments as binary messages.
 */
function createSocketViewer(socket: WSContext): Viewer<PlayableTrack> {
  // Hono excludes bytes in shared memory from its type. The bytes of a stream are
  // never in shared memory.
  const send = (bytes: Uint8Array) => socket.send(bytes as Uint8Array<ArrayBuffer>)
  return {
    begin(info, init) {
      socket.send(JSON.stringify(info))
      send(init)
    },
    fragment: send,
    backlog: () => bufferedBytes(socket),
    end: reason => closeSocket(socket, NORMAL_CLOSURE, reason),
  }
}

/**
 * Returns a live stream as an endless MP4 file, for the body of a response. The file ends when the
 * stream ends, or when a new init segment is necessary, which an MP4 file cannot contain.
 */
export function createChunkedBody(stream: Stream<PlayableTrack>): ReadableStream {
  let stop: (() => void) | undefined
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        stop = writeStream(stream, controller)
      },
      cancel: () => stop?.(),
    },
    // With a high-water mark of 0, `desiredSize` is the negative number of bytes in the queue.
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  )
}

/**
 * Writes a live stream to a response body. Returns a function that stops writing after the
 * client has disconnected.
 */
function writeStream(
  stream: Stream<PlayableTrack>,
  controller: ReadableStreamDefaultController<Uint8Array>,
): () => void {
  let hasBegun = false
  let hasEnded = false
  let stopWatching: (() => void) | undefined

  function stop() {
    hasEnded = true
    stopWatching?.()
  }

  function end() {
    if (hasEnded) return
    stop()
    controller.close()
  }

  stopWatching = stream.watch({
    begin(_, init) {
      if (hasBegun || hasEnded) return end()
      hasBegun = true
      controller.enqueue(init)
    },
    fragment(bytes) {
      // A stream with sound may end the viewer while it handles a unit, and then
      // still pass on this unit.
      if (!hasEnded) controller.enqueue(bytes)
    },
    backlog: () => -(controller.desiredSize ?? 0),
    end,
  })
  // `watch` sends what is cached before it returns, and may end the body while doing so.
  if (hasEnded) stopWatching()
  return stop
}
