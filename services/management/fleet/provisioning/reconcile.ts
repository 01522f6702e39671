import { createHash } from 'node:crypto'
import type { Client } from '@eyrie/client'
import type { Source } from '@eyrie/contract'
import type { Drift } from '@eyrie/contract/management/index'
import type { Database } from '../../db/database.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { type Stored, wantedPipelines, wantedSources } from './desired-state.ts'
import { surviving } from './difference.ts'
import { inOrder, pipelinesOn, shownSource, sourcesOn } from './engine-resources.ts'
import { provisionChannels } from './provision-channels.ts'
import { createProvisions, forgetLost } from './provisions.ts'
import { reconcileKind, refused } from './reconcile-kind.ts'
import { type Knowledge, readStoredState } from './stored-state.ts'

export interface Reconciliation {
  engine_id: string
  engine: Client
  database: Database
  secrets: Secrets
  /** Of the engine's output: one that has lost everything has another. */
  log_id: string
  /** Undoes what somebody has changed on the engine. */
  repair: boolean
  /** Channels that are taken off the engine for a moment. */
  resting?: ReadonlySet<string>
}

export interface Reconciled {
  drift: Drift[]
  /** SHA-256 of the configuration that was found. */
  hash: string
}

/** Makes an engine what is stored, by single operations. Rejects with EyrieError where the engine fails. */
export async function reconcile(reconciliation: Reconciliation): Promise<Reconciled> {
  const { engine_id, engine, database, secrets, repair, resting } = reconciliation
  const { sources, pipelines } = await engine.getConfiguration()
  const found = { sources, pipelines: pipelines.map(inOrder) }
  const { stored, made } = await knowledge(reconciliation, found)
  const ours = { engine_id, database, secrets }
  const sourcesMade = createProvisions({ kind: 'source', ...ours, known: made.source })
  const pipelinesMade = createProvisions({ kind: 'pipeline', ...ours, known: made.pipeline })
  const sourceSid = (id: string) => sourcesMade.get(id)?.sid ?? undefined

  const { wanted, lacking } = wantedSources(stored)
  const settledSources = await reconcileKind({
    resource: sourcesOn(engine),
    wanted,
    found: found.sources,
    provisions: sourcesMade,
    shown: shownSource,
    repair,
  })
  const settledPipelines = await reconcileKind({
    resource: pipelinesOn(engine),
    wanted: wantedPipelines(without(stored, resting), sourceSid),
    found: found.pipelines,
    provisions: pipelinesMade,
    shown: fields => fields,
    repair,
  })
  const drift = [
    ...lacking.map(each => refused('source', { ...each, sid: null, reason: NO_ADDRESS })),
    ...settledSources.drift,
    ...settledPipelines.drift,
    ...(await settledPipelines.removeRest()),
    ...(await settledSources.removeRest()),
  ]
  const sidOf = (id: string) => sourceSid(id) ?? pipelinesMade.get(id)?.sid ?? undefined
  if (!resting) await provisionChannels({ engine_id, engine, database, sidOf, drift })
  return { drift, hash: createHash('sha256').update(JSON.stringify(found)).digest('hex') }
}

const NO_ADDRESS = 'it has no address: give it a source_address, or its stream an address'

const without = (stored: Stored, resting: ReadonlySet<string> = new Set()): Stored => ({
  ...stored,
  channels: stored.channels.filter(({ channel_id }) => !resting.has(channel_id)),
})

/** What is known of the engine, without what it has lost. */
async function knowledge(
  { engine_id, database, secrets, log_id }: Reconciliation,
  found: { sources: Source[]; pipelines: ReturnType<typeof inOrder>[] },
): Promise<Knowledge> {
  const known = await database.system('provision an engine', tx => readStoredState(tx, engine_id, secrets))
  if (known.log_id === log_id) return known
  const source = surviving(known.made.source, found.sources, shownSource)
  const pipeline = surviving(known.made.pipeline, found.pipelines, fields => fields)
  const kept = new Set([...source, ...pipeline].map(({ record_id }) => record_id))
  const all = [...known.made.source, ...known.made.pipeline].map(({ record_id }) => record_id)
  const lost = all.filter(record_id => !kept.has(record_id))
  await forgetLost(database, engine_id, lost, log_id)
  return { ...known, made: { source, pipeline }, log_id }
}
