import { engineRoutes } from '@eyrie/contract/management/index'
import { getRequestClient } from '@eyrie/kit'
import {
  createJoinToken,
  deleteJoinToken,
  listJoinTokens,
} from '../../../fleet/registry/join-tokens.ts'
import { type JoinOptions, joinEngine } from '../../../fleet/registry/joined-engines.ts'
import { defineMultiStepOperation, defineOperation, type Operation } from '../../api/operation.ts'
import { assertChanged } from '../../api/policy-errors.ts'

/** API operations by which engines register themselves, and on the tokens that allow it. */
export const joinOperations = (options: JoinOptions): Operation[] => [
  defineMultiStepOperation(engineRoutes.join, async ({ input, context }, database) => {
    const { address } = getRequestClient(context)
    // The engine does not choose the address that management connects to.
    const engineId = await database.system(engineRoutes.join.path, tx =>
      joinEngine(tx, { ...input, engine_address: address }, options),
    )
    return { value: { engine_id: engineId } }
  }),

  defineOperation(engineRoutes.createJoinToken, async ({ input }, tx) => ({
    value: await createJoinToken(tx, input),
  })),

  defineOperation(engineRoutes.listJoinTokens, async (_, tx) => ({
    value: await listJoinTokens(tx),
  })),

  defineOperation(engineRoutes.deleteJoinToken, async ({ input }, tx) => {
    assertChanged(await deleteJoinToken(tx, input.join_token_id))
  }),
]
