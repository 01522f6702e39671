import type { ModelCard } from '@eyrie/contract/model'
import type { DetectedObject } from '@eyrie/contract/object'
import type { Detections, Thresholds } from '@eyrie/element'
import { type Candidate, HEAD_DECODERS, type HeadOutput } from './model-heads.ts'
import { assignSuppressionGroups, suppressOverlaps } from './overlap-suppression.ts'

/**
 * Objects with a score from this one to the threshold are not reported, but help trackers to
 * follow an object (`low_thresh` of ByteTrack, Zhang et al. 2022).
 */
const MIN_LOW_SCORE = 0.1

/**
 * Converts the output of a model to detected objects. `content` is the area of the model's input
 * that shows the picture of the source; the rest of the input is a border.
 */
export type DetectionDecoder = (
  output: Omit<HeadOutput, 'classes'>,
  content: ContentArea,
  thresholds: Thresholds,
) => Detections

/** A rectangle in pixels of the model's input. */
interface ContentArea {
  x: number
  y: number
  width: number
  height: number
}

type DecodedModel = Pick<
  ModelCard,
  | 'head'
  | 'labels'
  | 'suppress_together'
  | 'score_threshold'
  | 'iou_threshold'
  | 'class_score_thresholds'
>

/**
 * Creates the decoder of a model. The card names the output format (`head`), and contains the
 * thresholds that apply if a request has none.
 */
export function createDetectionDecoder(card: DecodedModel): DetectionDecoder {
  const decodeHead = HEAD_DECODERS[card.head]
  const suppressionGroups = assignSuppressionGroups(card)
  const classCount = card.labels.length
  const cardMinScores = card.labels.map(
    label => card.class_score_thresholds[label] ?? card.score_threshold,
  )

  return (output, content, thresholds) => {
    const requestedMinScore = thresholds.score_threshold
    /** The minimum score of reported objects, by label. */
    const minScores =
      requestedMinScore === undefined ? cardMinScores : card.labels.map(() => requestedMinScore)
    const isReported = ({ score, label }: Candidate) => score >= minScores[label]!
    const isLow = (candidate: Candidate) =>
      !isReported(candidate) && candidate.score >= MIN_LOW_SCORE

    const minScore = Math.min(MIN_LOW_SCORE, ...minScores)
    const candidates = decodeHead({ ...output, classes: classCount }, minScore).filter(isValidBox)

    const iouThreshold = thresholds.iou_threshold ?? card.iou_threshold
    const suppression = { groups: suppressionGroups, iouThreshold }
    const objects = suppressOverlaps(candidates.filter(isReported), suppression)
    // Reported objects come first, so that a class with a high threshold cannot suppress them.
    const lowScoreObjects = suppressOverlaps(candidates.filter(isLow), {
      ...suppression,
      selectedBefore: objects,
    })

    const toObjects = (selected: Candidate[]) =>
      selected.map(candidate => toObject(candidate, content, card.labels))
    return { objects: toObjects(objects), lowScoreObjects: toObjects(lowScoreObjects) }
  }
}

/** Models may emit boxes whose corners are swapped or whose size overflows. */
function isValidBox({ x0, y0, x1, y1 }: Candidate): boolean {
  const width = x1 - x0
  const height = y1 - y0
  return width > 0 && height > 0 && Number.isFinite(width + height)
}

/**
 * Converts a box from pixels of the model's input to coordinates in the picture of the source,
 * 0..1.
 */
function toObject(
  candidate: Candidate,
  content: ContentArea,
  labels: readonly string[],
): DetectedObject {
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
