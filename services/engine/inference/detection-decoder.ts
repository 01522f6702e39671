import type { ModelCard } from '@eyrie/contract/model'
import type { DetectedObject } from '@eyrie/contract/object'
import { type Candidate, HEAD_DECODERS, type HeadOutput } from './model-heads.ts'
import { assignSuppressionGroups, suppressOverlaps } from './overlap-suppression.ts'
import type { Thresholds } from './worker-messages.ts'

/**
 * Converts the output of a model to detected objects, ordered by descending score. `content` is the area of the model's
 * input that shows the picture of the source; the rest of the input is a border.
 */
export type DetectionDecoder = (
  output: Omit<HeadOutput, 'classes'>,
  content: ContentArea,
  thresholds: Thresholds,
) => DetectedObject[]

/** In pixels of the model's input. */
interface ContentArea {
  x: number
  y: number
  width: number
  height: number
}

/** Creates the decoder for the head (output format) that the model card names. The card describes a model for the engine. */
export function createDetectionDecoder(
  card: Pick<ModelCard, 'head' | 'labels' | 'suppress_together'>,
): DetectionDecoder {
  const decodeHead = HEAD_DECODERS[card.head]
  const suppressionGroups = assignSuppressionGroups(card)
  const classes = card.labels.length

  return (output, content, { score_threshold, iou_threshold }) => {
    const candidates = decodeHead({ ...output, classes }, score_threshold).filter(isValidBox)
    const selected = suppressOverlaps(candidates, suppressionGroups, iou_threshold)
    return selected.map(candidate => toObject(candidate, content, card.labels))
  }
}

/** Models may emit boxes whose corners are swapped or whose size overflows. */
function isValidBox({ x0, y0, x1, y1 }: Candidate): boolean {
  const width = x1 - x0
  const height = y1 - y0
  return width > 0 && height > 0 && Number.isFinite(width + height)
}

/** Converts a box from pixels of the model's input to coordinates in the picture of the source, 0..1. */
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
