import { EyrieError } from '@eyrie/contract'
import {
  type OperatorPlacement,
  operatorJoinTokenCreation,
  operatorJoinTokenDeletion,
  operatorPlacementApply,
  operatorSitePlacement,
  operatorSourcePlacement,
} from '@eyrie/contract/management/operator'
import { parseAs } from '@eyrie/contract/parse'
import { limitBodySize } from '@eyrie/kit/request-body'
import { eq } from 'drizzle-orm'
import { type Context, Hono } from 'hono'
import type { Database, Transaction } from '../../db/database.ts'
import { engine } from '../../db/schema/index.ts'
import { createJoinToken, deleteJoinToken, listJoinTokens } from '../../fleet/registry/join-tokens.ts'
import { applyMoves, updateSitePlacement, updateSourcePlacement } from '../../placement/change-placement.ts'
import { planRebalance } from '../../placement/plan-placement.ts'
import { readOverview } from '../../placement/read-overview.ts'
import { readPlacementState } from '../../placement/read-placement-state.ts'
import { readOffer, withdrawOffer } from '../../system-alerts/placement-offer.ts'

/** A plan has at most 1000 moves of about 150 bytes. */
const MAX_BODY_BYTES = 256 * 1024

/**
 * Routes of the command line for engines: what runs where, and the tokens with which engines join. `database` throws `EyrieError`
 * (`unavailable`) while the database is unreachable.
 */
export function createOperatorPlacementRoutes(database: () => Database): Hono {
  const app = new Hono()
  const run = <T>(work: (tx: Transaction) => Promise<T>) => database().system('placement', work)
  const readBody = (c: Context) => c.req.json().catch(() => undefined)
  const limit = limitBodySize(MAX_BODY_BYTES)

  app.post('/placement', async c => c.json(await run(readPlacement)))

  app.post('/placement/apply', limit, async c => {
    const { moves } = parseAs(operatorPlacementApply.body, await readBody(c))
    await run(async tx => {
      for (const { to_engine_id } of moves) await assertEngineExists(tx, to_engine_id)
      await applyMoves(tx, moves)
      await withdrawOffer(tx)
    })
    return c.json({})
  })

  app.post('/placement/site', limit, async c => {
    const change = parseAs(operatorSitePlacement.body, await readBody(c))
    await run(async tx => assertFound(await updateSitePlacement(tx, change), 'site', change.site_id))
    return c.json({})
  })

  app.post('/placement/source', limit, async c => {
    const change = parseAs(operatorSourcePlacement.body, await readBody(c))
    await run(async tx => {
      if (change.engine_id !== undefined) await assertEngineExists(tx, change.engine_id)
      assertFound(await updateSourcePlacement(tx, change), 'source', change.source_id)
    })
    return c.json({})
  })

  app.post('/join-tokens', async c => c.json({ tokens: await run(listJoinTokens) }))

  app.post('/join-tokens/create', limit, async c => {
    const input = parseAs(operatorJoinTokenCreation.body, await readBody(c))
    return c.json(await run(tx => createJoinToken(tx, input)))
  })

  app.post('/join-tokens/delete', limit, async c => {
    const { join_token_id } = parseAs(operatorJoinTokenDeletion.body, await readBody(c))
    await run(async tx => assertFound(await deleteJoinToken(tx, join_token_id), 'join token', join_token_id))
    return c.json({})
  })

  return app
}

const readPlacement = async (tx: Transaction): Promise<OperatorPlacement> => ({
  overview: await readOverview(tx),
  plan: { ...planRebalance(await readPlacementState(tx)), offer: await readOffer(tx) },
})

async function assertEngineExists(tx: Transaction, engine_id: string): Promise<void> {
  const columns = { engine_id: engine.engine_id }
  assertFound(
    await tx.select(columns).from(engine).where(eq(engine.engine_id, engine_id)),
    'engine',
    engine_id,
  )
}

function assertFound(rows: readonly unknown[], record: string, id: string): void {
  if (rows.length === 0) throw new EyrieError('id', `there is no ${record} ${id}`)
}
