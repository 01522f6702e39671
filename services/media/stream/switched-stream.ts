import type { PacketReader, Stream, Viewer } from './live-stream.ts'
import type { PlayableTrack, VideoTrack } from './sample-entry.ts'

/** A live view whose packets come from one stream now and from another later; its viewers stay. */
export interface SwitchedStream<Carried extends PlayableTrack = VideoTrack> extends Stream<Carried> {
  switchTo(stream: Stream<Carried> | undefined): void
  end(reason: string): void
}

export function createSwitchedStream<Carried extends PlayableTrack = VideoTrack>(): SwitchedStream<Carried> {
  const watching = new Map<Viewer<Carried>, () => void>()
  const following = new Map<PacketReader<Carried>, () => void>()
  let current: Stream<Carried> | undefined

  function join(viewer: Viewer<Carried>) {
    watching.set(viewer, () => {})
    const leave = current?.watch(viewer) ?? (() => {})
    // What a viewer is shown at once may make him leave.
    if (watching.has(viewer)) watching.set(viewer, leave)
    else leave()
  }

  function part(viewer: Viewer<Carried>) {
    const leave = watching.get(viewer)
    watching.delete(viewer)
    leave?.()
  }

  return {
    info: () => current?.info(),
    track: () => current?.track(),
    cached: () => current?.cached() ?? [],
    newestPts: () => current?.newestPts() ?? 0,
    viewers: () => watching.size,
    begun: async signal => current?.begun?.(signal),
    watch(viewer) {
      join(viewer)
      return () => part(viewer)
    },
    follow(reader) {
      following.set(reader, current?.follow(reader) ?? (() => {}))
      return () => {
        following.get(reader)?.()
        following.delete(reader)
      }
    },
    switchTo(stream) {
      if (stream === current) return
      current = stream
      for (const viewer of [...watching.keys()]) {
        part(viewer)
        join(viewer)
      }
      for (const [reader, stop] of following) {
        stop()
        following.set(reader, stream?.follow(reader) ?? (() => {}))
      }
    },
    end(reason) {
      for (const viewer of [...watching.keys()]) {
        part(viewer)
        viewer.end(reason)
      }
    },
  }
}
