import { z } from 'zod'
import { jobName } from '../jobs.ts'
import { job } from './job.ts'
import { joinToken, joinTokenInput, newJoinToken } from './managed-engine.ts'
import {
  offeredPlacementPlan,
  placementMoves,
  placementOverview,
  sitePlacementChange,
  sourcePlacementChange,
} from './placement.ts'

/**
 * Routes of the management service for an operator with a shell on the machine, such as the command
 * line `eyrie`. Requests carry the token in `secrets/operator-token` of the data folder.
 */

/** `POST /operator/user/reset`: resets the password of an administrator. */
export const operatorPasswordReset = {
  path: '/operator/user/reset',
  body: z.strictObject({ email: z.string().max(254) }),
  response: z.object({ password: z.string() }),
}

/**
 * `POST /operator/link`: creates a link that a browser on the machine can open once, to see the
 * live views without an account.
 */
export const operatorLink = {
  path: '/operator/link',
  response: z.object({ key: z.string() }),
}
export type ConsoleLink = z.infer<typeof operatorLink.response>

/** `POST /operator/jobs`: lists the jobs that maintain the appliance. */
export const operatorJobs = {
  path: '/operator/jobs',
  response: z.object({ jobs: z.array(job) }),
}

/** `POST /operator/jobs/run`: requests a run of a job. */
export const operatorJobRun = {
  path: '/operator/jobs/run',
  body: z.strictObject({ job_name: jobName }),
  response: z.object({ run_id: z.uuid() }),
}

/**
 * `POST /operator/placement`: the engines, what runs where, and a plan that distributes it better.
 */
export const operatorPlacement = {
  path: '/operator/placement',
  response: z.object({ overview: placementOverview, plan: offeredPlacementPlan }),
}
export type OperatorPlacement = z.infer<typeof operatorPlacement.response>

/** `POST /operator/placement/apply`: moves sources as planned. */
export const operatorPlacementApply = { path: '/operator/placement/apply', body: placementMoves }

/** `POST /operator/placement/site`: updates the placement of a site. */
export const operatorSitePlacement = { path: '/operator/placement/site', body: sitePlacementChange }

/** `POST /operator/placement/source`: updates the placement of a source, and moves it. */
export const operatorSourcePlacement = {
  path: '/operator/placement/source',
  body: sourcePlacementChange,
}

/** `POST /operator/join-tokens`: lists the tokens with which engines register themselves. */
export const operatorJoinTokens = {
  path: '/operator/join-tokens',
  response: z.object({ tokens: z.array(joinToken) }),
}

/** `POST /operator/join-tokens/create`: creates a token, which no other request returns. */
export const operatorJoinTokenCreation = {
  path: '/operator/join-tokens/create',
  body: joinTokenInput,
  response: newJoinToken,
}

/**
 * `POST /operator/join-tokens/delete`: deletes a token. The engines that have joined with it
 * remain.
 */
export const operatorJoinTokenDeletion = {
  path: '/operator/join-tokens/delete',
  body: z.strictObject({ join_token_id: z.uuid() }),
}

/** Returns the link that opens the console at this address with a key. */
export function toConsoleLink(consoleUrl: string, { key }: ConsoleLink): string {
  const link = new URL('/', consoleUrl)
  link.searchParams.set('key', key)
  return link.href
}
