import type { OfferedPlacementPlan, PlacementMove } from '@eyrie/contract/management/placement'
import { useSignal } from '@preact/signals'
import { callOperation } from '../api/call-operation.ts'
import { capitalize } from '../ui/format.ts'
import { useSubmit } from '../ui/use-submit.ts'
import { countCameras, formatCores } from './format-placement.ts'

interface RebalancePlanProps {
  plan: OfferedPlacementPlan
  onApplied(): Promise<void>
}

/** The moves that would distribute the load better, with a button that makes them. */
export function RebalancePlan({ plan, onApplied }: RebalancePlanProps) {
  /** What the last plan has moved. */
  const movedText = useSignal('')
  const { error, isSubmitting, onSubmit } = useSubmit(async () => {
    const moves = plan.moves.map(({ source_id, from_engine_id, to_engine_id }) => ({
      source_id,
      from_engine_id,
      to_engine_id,
    }))
    await callOperation('/placement/apply', { moves })
    movedText.value = `Moved ${countCameras(moves.length)}. Their load is measured again within a minute.`
    await onApplied()
  })
  const engineNames = new Map(
    plan.engines.map(({ engine_id, engine_name }) => [engine_id, engine_name]),
  )
  const hasMoves = plan.moves.length > 0

  return (
    <section class="panel" aria-label="Distribution">
      <h2>{toTitle(plan)}</h2>
      {plan.unplaced.length > 0 && (
        <ul class="unplaced">
          {plan.unplaced.map(({ source_id, source_name, reason }) => (
            <li key={source_id}>
              {source_name} has no engine: {reason}.
            </li>
          ))}
        </ul>
      )}
      {hasMoves && (
        <form onSubmit={onSubmit}>
          <table>
            <thead>
              <tr>
                <th>Camera</th>
                <th>Move</th>
                <th class="figure">Cores</th>
                <th>Why</th>
              </tr>
            </thead>
            <tbody>
              {plan.moves.map(move => (
                <MoveRow key={move.source_id} move={move} engineNames={engineNames} />
              ))}
            </tbody>
          </table>
          <p class="hint">
            Each move interrupts the counts and the recording of its camera for a few seconds.
            {plan.offer && ` Offered since ${new Date(plan.offer.offered_at).toLocaleString()}.`}
          </p>
          <button type="submit" class="main" disabled={isSubmitting.value}>
            Move {countCameras(plan.moves.length)}
          </button>
        </form>
      )}
      {error.value && (
        <p class="error" role="alert">
          {error.value}
        </p>
      )}
      {movedText.value && <p role="status">{movedText.value}</p>}
    </section>
  )
}

function toTitle({ moves, unplaced }: OfferedPlacementPlan): string {
  if (moves.length > 0) return 'A better distribution is possible'
  return unplaced.length > 0 ? 'Some cameras have no engine' : 'The load is distributed well'
}

interface MoveRowProps {
  move: PlacementMove
  /** By id. */
  engineNames: ReadonlyMap<string, string>
}

function MoveRow({ move, engineNames }: MoveRowProps) {
  const { source_name, from_engine_id, to_engine_id, cores, reason } = move
  return (
    <tr>
      <td>{source_name}</td>
      <td>
        {engineNames.get(from_engine_id)} → {engineNames.get(to_engine_id)}
      </td>
      <td class="figure" data-label="Cores">
        {formatCores(cores)}
      </td>
      <td class="reason">{capitalize(reason)}</td>
    </tr>
  )
}
