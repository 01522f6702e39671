import type { GstError } from '../node-gst/index.ts'
import type { SoundCodec } from './sound-codecs.ts'
import {
  openTap,
  type SoundListener,
  type SoundOrigin,
  type SoundTap,
  toElementPrefix,
} from './sound-tap.ts'

/**
 * The sound of a source in one codec. While it has listeners, a branch of the source's
 * pipeline (the tap) produces the sound. The listeners remain when the source is reconnected
 * with a new pipeline.
 */
export interface SoundOutlet<Track> {
  /** Adds a listener. Returns a function that removes it. */
  listen(listener: SoundListener<Track>): () => void
  /** Switches to the sound of a new pipeline. */
  attach(origin: SoundOrigin): void
  /** Must be called before the pipeline is disposed of. */
  detach(): void
  /** If the failed element belongs to this outlet, stops the sound until the next pipeline. */
  handleFailure(error: GstError): void
}

export function createOutlet<Track>(codec: SoundCodec<Track>): SoundOutlet<Track> {
  const listeners = new Set<SoundListener<Track>>()
  /** Where the current pipeline provides sound; undefined while there is none. */
  let origin: SoundOrigin | undefined
  let tap: SoundTap | undefined
  let track: Track | undefined

  const broadcast: SoundListener<Track> = {
    begin(next) {
      track = next
      for (const listener of listeners) listener.begin(next)
    },
    unit(unit) {
      for (const listener of listeners) listener.unit(unit)
    },
  }

  function openIfNeeded() {
    if (origin && listeners.size > 0) tap ??= openTap(origin, codec, broadcast)
  }

  function closeTap() {
    void tap?.remove()
    tap = undefined
    track = undefined
  }

  return {
    listen(listener) {
      listeners.add(listener)
      if (track) listener.begin(track)
      else openIfNeeded()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) closeTap()
      }
    },
    attach(next) {
      origin = next
      openIfNeeded()
    },
    detach() {
      origin = undefined
      tap?.closeSinks()
      tap = undefined
    },
    handleFailure({ source }) {
      if (!source?.startsWith(toElementPrefix(codec))) return
      closeTap()
      origin = undefined
    },
  }
}
