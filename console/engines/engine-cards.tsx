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
  const plannedEngines = new Map(plan.engines.map(engine => [engine.engine_id, engine]))
  return (
    <ul class="engine-cards" aria-label="Engines">
      {engines.map(engine => (
        <EngineCard
          key={engine.engine_id}
          engine={engine}
          cameraCount={sources.filter(({ engine_id }) => engine_id === engine.engine_id).length}
          plannedLoad={plannedEngines.get(engine.engine_id)?.used_after}
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

interface DisplayedStatus {
  label: string
  /** A class of `status.css`, which determines the colour. Default: neutral. */
  statusClass?: string
}

const NOT_CONTACTED: DisplayedStatus = { label: 'not contacted yet' }

/** How each `engine_status` is displayed. */
const STATUSES: Record<number, DisplayedStatus> = {
  [ENGINE_STATUS.unknown]: NOT_CONTACTED,
  [ENGINE_STATUS.online]: { label: 'online', statusClass: 'running' },
  [ENGINE_STATUS.offline]: { label: 'offline', statusClass: 'lost' },
  [ENGINE_STATUS.error]: { label: 'error', statusClass: 'failed' },
}

function EngineCard({ engine, cameraCount, plannedLoad }: EngineCardProps) {
  const { engine_name, engine_status, engine_reason, cores, used: load } = engine
  const { label, statusClass = '' } = STATUSES[engine_status] ?? NOT_CONTACTED
  const hasPlannedChange = plannedLoad !== undefined && plannedLoad !== load
  return (
    <li>
      <h2>{engine_name}</h2>
      <span class={`status ${statusClass}`}>{label}</span>
      {cores === null ? (
        <p class="hint">Its capacity is unknown.</p>
      ) : (
        <>
          <div class="load" aria-hidden="true">
            <div class={load > cores ? 'over' : ''} style={{ width: toPercent(load, cores) }} />
            {/* A mark at the planned load. */}
            {hasPlannedChange && <i style={{ left: toPercent(plannedLoad, cores) }} />}
          </div>
          <p>
            {formatCores(load)} of {formatCores(cores)} cores,{' '}
            {formatCores(Math.max(0, cores - load))} free
          </p>
        </>
      )}
      {hasPlannedChange && <p class="hint">{formatCores(plannedLoad)} cores after the plan</p>}
      <p class="hint">{countCameras(cameraCount)}</p>
      {engine_reason && <p class="error">{capitalize(engine_reason)}</p>}
    </li>
  )
}

/** Returns the share of a load in the capacity of an engine, at most 100 %. */
const toPercent = (load: number, cores: number) => `${Math.min(100, (100 * load) / (cores || 1))}%`
