import type { PacketReader, Stream, Viewer } from './live-stream.ts'
import type { PlayableTrack, VideoTrack } from './sample-entry.ts'

/**
 * A live view that can switch from one stream to another without disconnecting its viewers: from
 * the packets of a camera to a transcoded stream, for example.
 */
export interface SwitchedStream<Carried extends PlayableTrack = VideoTrack>
  extends Stream<Carried> {
  /** Continues with the packets of this stream; without packets if undefined. */
  switchTo(stream: Stream<Carried> | undefined): void
  /** Disconnects all viewers. */
  end(reason: string): void
}

export function createSwitchedStream<
  Carried extends PlayableTrack = VideoTrack,
>(): SwitchedStream<Carried> {
  // Each viewer and reader has the function that removes it from the current stream.
  const viewers = new Map<Viewer<Carried>, () => void>()
  const readers = new Map<PacketReader<Carried>, () => void>()
  let current: Stream<Carried> | undefined

  function addViewer(viewer: Viewer<Carried>) {
    viewers.set(viewer, () => {})
    const leave = current?.watch(viewer) ?? (() => {})
    // The viewer may have left while it received the cached units.
    if (viewers.has(viewer)) viewers.set(viewer, leave)
    else leave()
  }

  function removeViewer(viewer: Viewer<Carried>) {
    const leave = viewers.get(viewer)
    viewers.delete(viewer)
    leave?.()
  }

  return {
    info: () => current?.info(),
    track: () => current?.track(),
    cachedUnits: () => current?.cachedUnits() ?? [],
    newestPts: () => current?.newestPts() ?? 0,
    viewerCount: () => viewers.size,
    waitUntilStarted: async signal => current?.waitUntilStarted?.(signal),
    watch(viewer) {
      addViewer(viewer)
      return () => removeViewer(viewer)
    },
    follow(reader) {
      readers.set(reader, current?.follow(reader) ?? (() => {}))
      return () => {
        readers.get(reader)?.()
        readers.delete(reader)
      }
    },
    switchTo(stream) {
      if (stream === current) return
      current = stream
      for (const viewer of [...viewers.keys()]) {
        removeViewer(viewer)
        addViewer(viewer)
      }
      for (const [reader, leave] of readers) {
        leave()
        reader.interrupt()
        readers.set(reader, stream?.follow(reader) ?? (() => {}))
      }
    },
    end(reason) {
      for (const viewer of [...viewers.keys()]) {
        removeViewer(viewer)
        viewer.end(reason)
      }
    },
  }
}
