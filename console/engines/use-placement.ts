import type { OfferedPlacementPlan, PlacementOverview } from '@eyrie/contract/management/placement'
import { callOperation } from '../api/call-operation.ts'
import { type Loaded, useLoaded } from '../api/use-loaded.ts'

export interface Placement {
  overview: PlacementOverview
  plan: OfferedPlacementPlan
}

const INTERVAL_MS = 5_000

/** Loads what runs where, and the plan, every few seconds while the page is visible. */
export const usePlacement = (): Loaded<Placement> => useLoaded(loadPlacement, INTERVAL_MS)

async function loadPlacement(): Promise<Placement> {
  const [overview, plan] = await Promise.all([
    callOperation<PlacementOverview>('/placement/overview'),
    callOperation<OfferedPlacementPlan>('/placement/plan'),
  ])
  return { overview, plan }
}
