import type { DetectedObject } from '@eyrie/contract/object'
import type { Candidate } from './heads/index.ts'

/** Where the source's picture lies inside the model's input, in pixels. */
export interface Content {
  x: number
  y: number
  width: number
  height: number
}

/** Maps a box from input pixels to the source's picture, 0..1: the inverse of scaling and padding. */
export function toSource(candidate: Candidate, content: Content, labels: readonly string[]): DetectedObject {
  const { x0, y0, x1, y1, score, label } = candidate
  return {
    class: labels[label]!,
    // Rounding in the graph may lift a score a hair above one.
    score: Math.min(score, 1),
    bbox: {
      x: (x0 - content.x) / content.width,
      y: (y0 - content.y) / content.height,
      w: (x1 - x0) / content.width,
      h: (y1 - y0) / content.height,
    },
  }
}
