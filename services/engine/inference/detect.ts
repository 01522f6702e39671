import type { ModelCard } from '@eyrie/contract/model'
import type { DetectedObject } from '@eyrie/contract/object'
import { type Candidate, decodeHeads, type HeadOutput } from './heads/index.ts'
import { suppress, suppressionGroups } from './suppress.ts'
import type { Thresholds } from './worker-messages.ts'

/** Turns a model's output into objects of the source's picture, the best first. */
export type Detect = (
  output: Omit<HeadOutput, 'classes'>,
  content: Content,
  thresholds: Thresholds,
) => DetectedObject[]

export function createDetect(card: Pick<ModelCard, 'head' | 'labels' | 'suppress_together'>): Detect {
  const decode = decodeHeads[card.head]
  const groups = suppressionGroups(card)
  const classes = card.labels.length
  return (output, content, { score_threshold, iou_threshold }) => {
    const boxes = decode({ ...output, classes }, score_threshold).filter(isBox)
    return suppress(boxes, groups, iou_threshold).map(box => toSource(box, content, card.labels))
  }
}

/** Models do emit boxes that are none: turned inside out, or with sizes past the largest number. */
const isBox = ({ x0, y0, x1, y1 }: Candidate) => x1 > x0 && y1 > y0 && Number.isFinite(x1 - x0 + (y1 - y0))

/** Where the source's picture lies inside the model's input, in pixels. */
interface Content {
  x: number
  y: number
  width: number
  height: number
}

/** Maps a box from input pixels to the source's picture, 0..1: the inverse of scaling and padding. */
function toSource(candidate: Candidate, content: Content, labels: readonly string[]): DetectedObject {
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
