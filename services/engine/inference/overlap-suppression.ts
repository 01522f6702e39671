import type { ModelCard } from '@eyrie/contract/model'
import type { Candidate } from './model-heads.ts'

/**
 * Limits the cost of the suppression, which is quadratic: candidates with lower scores are dropped.
 * With a score threshold of 0, there are thousands of candidates.
 */
const MAX_CANDIDATES = 1000

/**
 * Returns the suppression group of each label of a model. A box suppresses only overlapping boxes
 * of the same group. Labels that the model card lists in `suppress_together` share a group; any
 * other label has a group of its own.
 */
export function assignSuppressionGroups(
  card: Pick<ModelCard, 'labels' | 'suppress_together'>,
): number[] {
  const sharedGroups = card.suppress_together
  return card.labels.map((label, index) => {
    const group = sharedGroups.findIndex(labels => labels.includes(label))
    // The groups of single labels are numbered after the shared ones.
    return group === -1 ? sharedGroups.length + index : group
  })
}

export interface SuppressionOptions {
  /** The suppression group of each label, by the index of the label. */
  groups: readonly number[]
  /** Boxes that overlap more are suppressed: intersection over union, 0..1. */
  iouThreshold: number
  /**
   * Boxes that were selected in an earlier run. They suppress candidates, but are neither
   * suppressed nor returned.
   */
  selectedBefore?: readonly Candidate[]
}

/**
 * Greedy non-maximum suppression. If boxes of a group overlap by more than the threshold, only the
 * box with the highest score remains, and none if they overlap a box that was selected before.
 * Returns the remaining boxes by descending score. Only the best `MAX_CANDIDATES` are considered.
 */
export function suppressOverlaps(
  candidates: readonly Candidate[],
  { groups, iouThreshold, selectedBefore = [] }: SuppressionOptions,
): Candidate[] {
  const best = [...candidates].sort((a, b) => b.score - a.score).slice(0, MAX_CANDIDATES)
  const selected: Candidate[] = []
  for (const candidate of best) {
    const suppresses = (other: Candidate) =>
      groups[other.label] === groups[candidate.label] &&
      intersectionOverUnion(candidate, other) > iouThreshold
    if (!selectedBefore.some(suppresses) && !selected.some(suppresses)) selected.push(candidate)
  }
  return selected
}

function intersectionOverUnion(a: Candidate, b: Candidate): number {
  const width = Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0)
  const height = Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0)
  if (width <= 0 || height <= 0) return 0
  const intersection = width * height
  return intersection / (area(a) + area(b) - intersection)
}

const area = (box: Candidate) => (box.x1 - box.x0) * (box.y1 - box.y0)
