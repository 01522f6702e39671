import { EyrieError } from '@eyrie/contract'
import {
  type OperatorPlacement,
  operatorJoinTokenCreation,
  operatorJoinTokenDeletion,
  operatorPlacementApply,
  operatorSitePlacement,
  operatorSourcePlacement,
} from '@eyrie/contract/management/operator'
import { limitBodySize, parseJsonBody } from '@eyrie/kit/request-body'
import { eq } from 'drizzle-orm'
import { Hono } from 'hono'
import type { Database, Transaction } from '../../db/database.ts'
import { engine } from '../../db/schema/index.ts'
import {
  createJoinToken,
  deleteJoinToken,
  listJoinTokens,
} from '../../fleet/registry/join-tokens.ts'
import {
  applyMoves,
  updateSitePlacement,
  updateSourcePlacement,
} from '../../placement/change-placement.ts'
import { planRebalance } from '../../placement/plan-placement.ts'
import { readOverview } from '../../placement/read-overview.ts'
import { readPlacementState } from '../../placement/read-placement-state.ts'
import { readOffer, withdrawOffer } from '../../system-alerts/placement-offer.ts'

/** A plan has at most 1000 moves of about 150 bytes. */
const MAX_BODY_BYTES = 256 * 1024

/**
 * Routes with which the command line manages placement and join tokens. The placement of a source
 * is the engine that runs it. An engine joins the fleet with a join token. `database` throws
 * `EyrieError` (`unavailable`) while the database is unreachable.
 */
export function createOperatorPlacementRoutes(database: () => Database): Hono {
  const app = new Hono()
  const transact = <T>(work: (tx: Transaction) => Promise<T>) =>
    database().system('placement', work)
  const limitBody = limitBodySize(MAX_BODY_BYTES)

  app.post('/placement', async c => c.json(await transact(readPlacement)))

  app.post('/placement/apply', limitBody, async c => {
    const { moves } = await parseJsonBody(c, operatorPlacementApply.body)
    await transact(async tx => {
      for (const { to_engine_id: toEngineId } of moves) await assertEngineExists(tx, toEngineId)
      await applyMoves(tx, moves)
      // The offer was calculated for the placement before these moves.
      await withdrawOffer(tx)
    })
    return c.json({})
  })

  app.post('/placement/site', limitBody, async c => {
    const change = await parseJsonBody(c, operatorSitePlacement.body)
    await transact(async tx =>
      assertFound(await updateSitePlacement(tx, change), 'site', change.site_id),
    )
    return c.json({})
  })

  app.post('/placement/source', limitBody, async c => {
    const change = await parseJsonBody(c, operatorSourcePlacement.body)
    await transact(async tx => {
      if (change.engine_id !== undefined) await assertEngineExists(tx, change.engine_id)
      assertFound(await updateSourcePlacement(tx, change), 'source', change.source_id)
    })
    return c.json({})
  })

  app.post('/join-tokens', async c => c.json({ tokens: await transact(listJoinTokens) }))

  app.post('/join-tokens/create', limitBody, async c => {
    const input = await parseJsonBody(c, operatorJoinTokenCreation.body)
    return c.json(await transact(tx => createJoinToken(tx, input)))
  })

  app.post('/join-tokens/delete', limitBody, async c => {
    const { join_token_id: joinTokenId } = await parseJsonBody(c, operatorJoinTokenDeletion.body)
    await transact(async tx =>
      assertFound(await deleteJoinToken(tx, joinTokenId), 'join token', joinTokenId),
    )
    return c.json({})
  })

  return app
}

const readPlacement = async (tx: Transaction): Promise<OperatorPlacement> => ({
  overview: await readOverview(tx),
  plan: { ...planRebalance(await readPlacementState(tx)), offer: await readOffer(tx) },
})

async function assertEngineExists(tx: Transaction, engineId: string): Promise<void> {
  const columns = { engine_id: engine.engine_id }
  assertFound(
    await tx.select(columns).from(engine).where(eq(engine.engine_id, engineId)),
    'engine',
    engineId,
  )
}

/**
 * Throws `EyrieError` (`id`) if a query or an update of a record has returned no row. `kind` is the
 * kind of record, such as `source`.
 */
function assertFound(rows: readonly unknown[], kind: string, id: string): void {
  if (rows.length === 0) throw new EyrieError('id', `there is no ${kind} ${id}`)
}
