import type { ModelCard } from '@eyrie/contract/model'
import type { Candidate } from './heads/index.ts'

/** So many of the best boxes are looked at; a threshold of 0 lets thousands through, and the work grows as n². */
const MOST_CANDIDATES = 1000

/** For each label the group whose boxes suppress one another: a class by itself, or those the card puts together. */
export function suppressionGroups(card: Pick<ModelCard, 'labels' | 'suppress_together'>): number[] {
  return card.labels.map((label, index) => {
    const group = card.suppress_together.findIndex(together => together.includes(label))
    return group === -1 ? card.suppress_together.length + index : group
  })
}

/**
 * Greedy non-maximum suppression: of boxes in one group that overlap by more than `iouThreshold`, the best scored
 * one stays. Answers the best first.
 */
export function suppress(
  candidates: readonly Candidate[],
  groups: readonly number[],
  iouThreshold: number,
): Candidate[] {
  const best = [...candidates].sort((a, b) => b.score - a.score).slice(0, MOST_CANDIDATES)
  const kept: Candidate[] = []
  for (const candidate of best) {
    const group = groups[candidate.label]
    const overlaps = (other: Candidate) =>
      groups[other.label] === group && intersectionOverUnion(candidate, other) > iouThreshold
    if (!kept.some(overlaps)) kept.push(candidate)
  }
  return kept
}

function intersectionOverUnion(a: Candidate, b: Candidate): number {
  const width = Math.min(a.x1, b.x1) - Math.max(a.x0, b.x0)
  const height = Math.min(a.y1, b.y1) - Math.max(a.y0, b.y0)
  if (width <= 0 || height <= 0) return 0
  const intersection = width * height
  return intersection / (areaOf(a) + areaOf(b) - intersection)
}

const areaOf = (box: Candidate) => (box.x1 - box.x0) * (box.y1 - box.y0)
