import type { GstError } from '../node-gst/index.ts'
import type { SoundCodec } from './sound-codecs.ts'
import { openTap, type SoundListener, type SoundOrigin, type Tap, toElementPrefix } from './sound-tap.ts'

/** A source's sound in one coding, made as long as somebody listens, through all pipelines that the source has. */
export interface Outlet<Track> {
  /** Returns how to stop listening. */
  listen(listener: SoundListener<Track>): () => void
  /** From now on sound comes from here. */
  attach(found: SoundOrigin): void
  /** To be called before the pipeline is taken down. */
  detach(): void
  /** Nothing more comes from this pipeline if it was an element of this outlet. */
  handleFailure(error: GstError): void
}

export function createOutlet<Track>(coding: SoundCodec<Track>): Outlet<Track> {
  const listeners = new Set<SoundListener<Track>>()
  let found: SoundOrigin | undefined
  let tap: Tap | undefined
  let track: Track | undefined

  const everybody: SoundListener<Track> = {
    begin(next) {
      track = next
      for (const listener of listeners) listener.begin(next)
    },
    unit(unit) {
      for (const listener of listeners) listener.unit(unit)
    },
  }

  function open() {
    if (found && listeners.size > 0) tap ??= openTap(found, coding, everybody)
  }

  function silence() {
    void tap?.remove()
    tap = undefined
    track = undefined
  }

  return {
    listen(listener) {
      listeners.add(listener)
      if (track) listener.begin(track)
      else open()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) silence()
      }
    },
    attach(next) {
      found = next
      open()
    },
    detach() {
      found = undefined
      tap?.closeSinks()
      tap = undefined
    },
    handleFailure({ source }) {
      if (!source?.startsWith(toElementPrefix(coding))) return
      silence()
      found = undefined
    },
  }
}
