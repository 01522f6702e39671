import { Notice, Unreachable } from '../ui/notice.tsx'
import { usePageTitle } from '../ui/router.tsx'
import { CameraTable } from './camera-table.tsx'
import { EngineCards } from './engine-cards.tsx'
import { JoinTokens } from './join-tokens.tsx'
import { RebalancePlan } from './rebalance-plan.tsx'
import { SiteRules } from './site-rules.tsx'
import { usePlacement } from './use-placement.ts'
import '../ui/controls.css'
import './engines-page.css'

/** The engines, what runs where, and how to distribute it better, for superadmins. */
export function EnginesPage() {
  const { value: placement, error, refresh } = usePlacement()
  usePageTitle('Engines')
  if (!placement.value && error.value) return <Unreachable reason={error.value} />
  if (!placement.value) return <Notice title="Loading…" />

  const { overview, plan } = placement.value
  return (
    <div class="engines controls">
      {error.value && <Unreachable reason={error.value} isStale />}
      <h1>Engines</h1>
      <RebalancePlan plan={plan} onApplied={refresh} />
      <EngineCards overview={overview} plan={plan} />
      <CameraTable overview={overview} onChanged={refresh} />
      <SiteRules sites={overview.sites} onChanged={refresh} />
      <JoinTokens sites={overview.sites} />
    </div>
  )
}
