import { ENGINE_STATUS } from '@eyrie/contract/management/managed-engine'
import type { OfferedPlacementPlan, PlacementOverview } from '@eyrie/contract/management/placement'
import { capitalize } from '../ui/format.ts'
import { countCameras, formatCores } from './format-placement.ts'
import '../ui/status.css'

interface EngineCardsProps {
  overview: PlacementOverview
  plan: OfferedPlacementPlan
}

/** A card for each engine with its state, its load and the number of its cameras. */
export function EngineCards({ overview, plan }: EngineCardsProps) {
  const { engines, sources } = overview
  if (engines.length === 0) {
    return <p class="hint">No engine is registered. Create a join token below.</p>
  }
  const planned = new Map(plan.engines.map(engine => [engine.engine_id, engine]))
  return (
    <ul class="engine-cards" aria-label="Engines">
      {engines.map(engine => (
        <EngineCard
          key={engine.engine_id}
          engine={engine}
          cameraCount={sources.filter(({ engine_id }) => engine_id === engine.engine_id).length}
          plannedLoad={planned.get(engine.engine_id)?.used_after}
        />
      ))}
    </ul>
  )
}

interface EngineCardProps {
  engine: PlacementOverview['engines'][number]
  cameraCount: number
  /** The load after the plan, in CPU cores. */
  plannedLoad: number | undefined
}

const STATUSES: Record<number, [label: string, statusClass: string]> = {
  [ENGINE_STATUS.unknown]: ['not contacted yet', ''],
  [ENGINE_STATUS.online]: ['online', 'running'],
  [ENGINE_STATUS.offline]: ['offline', 'lost'],
  [ENGINE_STATUS.error]: ['error', 'failed'],
}

function EngineCard({ engine, cameraCount, plannedLoad }: EngineCardProps) {
  const {
    engine_name: engineName,
    engine_status: engineStatus,
    engine_reason: engineReason,
    cores,
    used,
  } = engine
  const [label, statusClass] = STATUSES[engineStatus]!
  const isPlanned = plannedLoad !== undefined && plannedLoad !== used
  return (
    <li>
      <h2>{engineName}</h2>
      <span class={`status ${statusClass}`}>{label}</span>
      {cores === null ? (
        <p class="hint">Its capacity is unknown.</p>
      ) : (
        <>
          <div class="load" aria-hidden="true">
            <div class={used > cores ? 'over' : ''} style={{ width: toWidth(used, cores) }} />
            {isPlanned && <i style={{ left: toWidth(plannedLoad, cores) }} />}
          </div>
          <p>
            {formatCores(used)} of {formatCores(cores)} cores,{' '}
            {formatCores(Math.max(0, cores - used))} free
          </p>
        </>
      )}
      {isPlanned && <p class="hint">{formatCores(plannedLoad)} cores after the plan</p>}
      <p class="hint">{countCameras(cameraCount)}</p>
      {engineReason && <p class="error">{capitalize(engineReason)}</p>}
    </li>
  )
}

const toWidth = (load: number, cores: number) => `${Math.min(100, (100 * load) / (cores || 1))}%`
