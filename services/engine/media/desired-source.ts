import type { DesiredSource } from '@eyrie/contract/media'
import { TICKS_PER_SECOND } from '@eyrie/contract/ticks'
import type { ViewSpec } from '@eyrie/contract/view'
import type { SourcePlan } from '../plan/plan.ts'

/**
 * Describes to the media service how it should play a source, and the views, by key, that it should
 * write.
 */
export function toDesiredSource(
  plan: SourcePlan,
  viewsByKey: ReadonlyMap<string, { spec: ViewSpec }>,
): DesiredSource {
  const { id, type, address, decoder, rate, recording, pacing } = plan
  // More than one frame per tick is impossible, and the arithmetic of the media service overflows
  // far above that rate.
  const maxRate = rate && Math.min(rate, TICKS_PER_SECOND)
  return {
    id,
    type,
    address,
    decoder,
    ...(maxRate !== undefined && { rate: maxRate }),
    ...(recording && { recording }),
    pacing,
    views: Object.fromEntries([...viewsByKey].map(([key, { spec }]) => [key, spec])),
  }
}
