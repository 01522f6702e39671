import type { PlayableTrack } from '../stream/sample-entry.ts'
import { createSwitchedStream } from '../stream/switched-stream.ts'
import type { Variants } from './source-variants.ts'

/**
 * The variants of one of several streams, which can switch to another stream without
 * disconnecting viewers.
 */
export interface SwitchedVariants extends Variants {
  switchTo(variants: Variants): void
}

export function createSwitchedVariants(initial: Variants): SwitchedVariants {
  const h264 = createSwitchedStream()
  const playable = createSwitchedStream<PlayableTrack>()
  const transcoded = createSwitchedStream()
  let current = initial

  function switchTo(variants: Variants) {
    current = variants
    h264.switchTo(variants.h264)
    playable.switchTo(variants.playable)
    transcoded.switchTo(variants.transcoded)
  }
  switchTo(initial)

  return {
    get original() {
      return current.original
    },
    h264,
    playable,
    transcoded,
    viewerCount: () =>
      [h264, playable, transcoded].reduce((sum, stream) => sum + stream.viewerCount(), 0),
    isTranscoding: () => current.isTranscoding(),
    switchTo,
  }
}
