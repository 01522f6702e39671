import type { DetectedObject } from '@eyrie/contract/object'

const strongScore = 0.4

/** How much farther off the box of a weak detection is (after the NSA filter of StrongSORT, Du et al. 2023). */
export const weakDoubt = 3

/** Whether a detection may begin a track; a weaker one only continues one (after ByteTrack, Zhang et al. 2022). */
export function isStrong({ score }: DetectedObject): boolean {
  return score >= strongScore
}
