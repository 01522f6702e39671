import type { Placement } from '@eyrie/contract/management/placement'
import { eq } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { withFullScope } from '../db/full-scope.ts'
import { site, source } from '../db/schema/index.ts'
import { fieldError } from '../errors/field-errors.ts'
import { moveSource, type SourceMove } from './move-sources.ts'

export interface SitePlacementChange {
  site_id: string
  site_placement?: Placement | undefined
  site_is_spread?: boolean | undefined
}

export interface SourcePlacementChange {
  source_id: string
  /** Null: the placement of the site applies. */
  source_placement?: Placement | null | undefined
  /** The engine to move the source to. */
  engine_id?: string | undefined
}

/**
 * Updates the placement of a site. Returns the updated rows: none if the caller may
 * not change the site.
 */
export const updateSitePlacement = (tx: Transaction, change: SitePlacementChange) =>
  // The change includes the id, because an update must set at least one column.
  tx.update(site).set(change).where(eq(site.site_id, change.site_id)).returning()

/**
 * Updates the placement of a source, and moves the source if the change names another engine.
 * Returns the rows before the move: none if the caller may not change the source.
 */
export async function updateSourcePlacement(
  tx: Transaction,
  { source_id: sourceId, engine_id: engineId, ...fields }: SourcePlacementChange,
) {
  const rows = await tx
    .update(source)
    .set({ source_id: sourceId, ...fields })
    .where(eq(source.source_id, sourceId))
    .returning()
  const currentEngineId = rows[0]?.engine_id
  if (!currentEngineId || !engineId || engineId === currentEngineId) return rows

  const move = { source_id: sourceId, from_engine_id: currentEngineId, to_engine_id: engineId }
  await withFullScope(tx, () => moveSource(tx, move))
  return rows
}

/**
 * Moves sources as planned. Throws `EyrieError` (`conflict`) if a source has been moved
 * since the plan was made.
 */
export async function applyMoves(tx: Transaction, moves: readonly SourceMove[]): Promise<void> {
  for (const [index, move] of moves.entries()) {
    const wasMoved = await moveSource(tx, move)
    if (wasMoved) continue
    throw fieldError(
      `moves.${index}.from_engine_id`,
      'the source is not on this engine any more, or already on the other one: request a new plan',
      { code: 'conflict' },
    )
  }
}
