import type { ModelCard } from '@eyrie/contract/model'
import type { DetectedObject } from '@eyrie/contract/object'
import { type Candidate, decodeHeads, type HeadOutput } from './heads/index.ts'
import { suppress, suppressionGroups } from './suppress.ts'
import { type Content, toSource } from './to-source.ts'
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
