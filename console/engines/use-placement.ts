import type { OfferedPlacementPlan, PlacementOverview } from '@eyrie/contract/management/placement'
import { type Signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { callOperation } from '../api/api-request.ts'

export interface Placement {
  overview: PlacementOverview
  plan: OfferedPlacementPlan
}

interface LoadedPlacement {
  /** Undefined until it is loaded for the first time. */
  placement: Signal<Placement | undefined>
  /** Why the last request failed; empty if it did not. */
  error: Signal<string>
  /** Loads again, after a change. */
  refresh(): Promise<void>
}

const INTERVAL_MS = 5_000

/** Loads what runs where, and the plan, every few seconds while the page is visible. */
export function usePlacement(): LoadedPlacement {
  const placement = useSignal<Placement | undefined>(undefined)
  const error = useSignal('')

  const refresh = async () => {
    try {
      const [overview, plan] = await Promise.all([
        callOperation<PlacementOverview>('/placement/overview'),
        callOperation<OfferedPlacementPlan>('/placement/plan'),
      ])
      placement.value = { overview, plan }
      error.value = ''
    } catch (failure) {
      error.value = (failure as Error).message
    }
  }

  useEffect(() => {
    const refreshIfVisible = () => {
      if (!document.hidden) void refresh()
    }
    refreshIfVisible()
    const timer = setInterval(refreshIfVisible, INTERVAL_MS)
    document.addEventListener('visibilitychange', refreshIfVisible)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', refreshIfVisible)
    }
  }, [])
  return { placement, error, refresh }
}
