import type { ModelCard } from '@eyrie/contract/model'
import type { DetectedObject } from '@eyrie/contract/object'
import { type Candidate, decodeHeads, type HeadOutput } from './model-heads.ts'
import { assignSuppressionGroups, suppressOverlaps } from './overlap-suppression.ts'
import type { Thresholds } from './worker-messages.ts'

/** Converts the output of a model to objects in the source's picture, by descending score. */
export type DetectionDecoder = (
  output: Omit<HeadOutput, 'classes'>,
  content: ContentArea,
  thresholds: Thresholds,
) => DetectedObject[]

/** The area of the model's input that the source's picture covers, in pixels. */
interface ContentArea {
  x: number
  y: number
  width: number
  height: number
}

export function createDetectionDecoder(
  card: Pick<ModelCard, 'head' | 'labels' | 'suppress_together'>,
): DetectionDecoder {
  const decode = decodeHeads[card.head]
  const groups = assignSuppressionGroups(card)
  const classes = card.labels.length
  return (output, content, { score_threshold, iou_threshold }) => {
    const boxes = decode({ ...output, classes }, score_threshold).filter(isValidBox)
    return suppressOverlaps(boxes, groups, iou_threshold).map(box => toObject(box, content, card.labels))
  }
}

/** Models emit degenerate boxes: inverted ones, or ones whose size overflows. */
function isValidBox({ x0, y0, x1, y1 }: Candidate): boolean {
  return x1 > x0 && y1 > y0 && Number.isFinite(x1 - x0 + (y1 - y0))
}

/** Maps a box from input pixels to the source's picture, 0..1, reversing scaling and padding. */
function toObject(candidate: Candidate, content: ContentArea, labels: readonly string[]): DetectedObject {
  const { x0, y0, x1, y1, score, label } = candidate
  return {
    class: labels[label]!,
    // Rounding in the model may lift a score slightly above 1.
    score: Math.min(score, 1),
    bbox: {
      x: (x0 - content.x) / content.width,
      y: (y0 - content.y) / content.height,
      w: (x1 - x0) / content.width,
      h: (y1 - y0) / content.height,
    },
  }
}
