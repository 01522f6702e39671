import type { Drawing } from '@eyrie/contract'
import type { Frame, FrameBuffer } from './frame-buffer.ts'

/**
 * The drawings that wait for their frame or for the encoder, in order of arrival. If too many wait,
 * the oldest are dropped.
 */
export interface PendingDrawings {
  /** Adds the drawing for frame number `n`. */
  add(n: number, drawing: Drawing): void
  /**
   * Removes and returns the next drawing with its frame. Skips drawings whose frames were dropped.
   * Returns undefined if the frame of the next drawing has not arrived yet.
   */
  claimNext(frames: FrameBuffer): { frame: Frame; drawing: Drawing } | undefined
  clear(): void
}

const MAX_DRAWINGS = 8

export function createPendingDrawings(): PendingDrawings {
  /** By frame number. */
  const drawings = new Map<number, Drawing>()

  return {
    add(n, drawing) {
      drawings.set(n, drawing)
      for (const oldest of drawings.keys()) {
        if (drawings.size <= MAX_DRAWINGS) return
        drawings.delete(oldest)
      }
    },

    claimNext(frames) {
      for (const [n, drawing] of drawings) {
        if (n > frames.newestNumber()) return undefined
        drawings.delete(n)
        const frame = frames.claim(n)
        if (frame) return { frame, drawing }
      }
      return undefined
    },

    clear: () => drawings.clear(),
  }
}
