import type { PlacementOffer } from '@eyrie/contract/management/placement'
import { and, eq, isNull } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { systemAlert } from '../db/schema/index.ts'

// Management offers a better distribution over the engines by a system alert, which is open as long
// as the offer stands.

const isOffered = and(eq(systemAlert.kind, 'engines_unbalanced'), isNull(systemAlert.ended_at))

/** Returns the open offer. Must run with all rights. */
export async function readOffer(tx: Transaction): Promise<PlacementOffer | null> {
  const [row] = await tx.select().from(systemAlert).where(isOffered)
  if (!row) return null
  const {
    system_alert_id: systemAlertId,
    message,
    opened_at: openedAt,
    acknowledged_at: acknowledgedAt,
  } = row
  return {
    system_alert_id: systemAlertId,
    message,
    offered_at: openedAt.toISOString(),
    acknowledged_at: acknowledgedAt?.toISOString() ?? null,
  }
}

/**
 * Withdraws the offer, because it has been accepted. If more moves are useful later, there
 * will be another one.
 */
export const withdrawOffer = (tx: Transaction): Promise<unknown> =>
  tx.update(systemAlert).set({ ended_at: new Date() }).where(isOffered)
