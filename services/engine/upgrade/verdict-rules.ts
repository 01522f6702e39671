/** The rules by which the reports of runs in shadow judge plugins and models. */

/** Maximum share of frames that may exceed the budget. */
export const MAX_OVER_BUDGET = 0.05
/** With fewer frames, costs are not judged, because the first frames take longer. */
const MIN_COST_FRAMES = 20
/** If a larger share of frames is skipped, results differ because of them. */
export const MAX_SKIPPED = 0.1
/** Differences of CPU time below either of these are noise. */
const MIN_COST_RATIO = 1.5
const MIN_COST_DIFFERENCE_MS = 0.5

/** Returns the verdict that follows from the findings in words. */
export function selectVerdict(
  worse: readonly string[],
  different: readonly string[],
  comparisons: readonly { frames: number }[],
): 'unknown' | 'same' | 'different' | 'worse' {
  if (worse.length > 0) return 'worse'
  if (comparisons.every(({ frames }) => frames === 0)) return 'unknown'
  return different.length > 0 ? 'different' : 'same'
}

/** Whether a comparison has enough frames to judge costs. */
export const hasCosts = ({ frames }: { frames: number }): boolean => frames >= MIN_COST_FRAMES

/**
 * Whether the CPU time per frame in ms has considerably increased; false if one of the two
 * has not been measured.
 */
export const isCostlier = (before: number | undefined, after: number | undefined): boolean =>
  before !== undefined &&
  after !== undefined &&
  after > before * MIN_COST_RATIO &&
  after > before + MIN_COST_DIFFERENCE_MS

export function formatTimes(count: number): string {
  if (count === 0) return 'never'
  return count === 1 ? 'once' : `${count} times`
}
