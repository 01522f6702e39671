import type { EngineCondition, EngineOutage } from '@eyrie/contract'
import type { SystemAlertSettings } from '@eyrie/contract/management/system-alert'
import { eq, isNotNull } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { engine, engineState, source } from '../db/schema/index.ts'
import { observeClock, observeDisk, observeEnd } from './rules/machine-rules.ts'
import type { Observation, Subject } from './rules/observation.ts'
import type { PictureReference } from './rules/picture-rules.ts'
import { observeSource } from './rules/source-rules.ts'

/** The condition of an engine, with the times of the request that has read it. */
export interface ReceivedCondition {
  condition: EngineCondition
  requestedMs: number
  receivedMs: number
}

/** An older condition says nothing about the present. */
const MAX_AGE_MS = 45_000

export interface EngineObservationsInput {
  /** The last condition of each engine. */
  conditions: ReadonlyMap<string, ReceivedCondition>
  /** The conditions from which was learned already. */
  evaluated: ReadonlySet<ReceivedCondition>
  outages: readonly EngineOutage[]
  references: ReadonlyMap<string, PictureReference>
  thresholds: SystemAlertSettings['thresholds']
  /** Name of this machine, whose disk management observes itself. */
  hostname: string
  nowMs: number
}

export interface EngineObservations {
  observations: Observation[]
  /** The engines about whose sources nothing is known at present. */
  unknownEngines: Set<string>
  /** What was learned anew about the pictures of sources. */
  references: Map<string, PictureReference>
}

/** Observes all engines and their sources. */
export async function observeEngines(
  tx: Transaction,
  input: EngineObservationsInput,
): Promise<EngineObservations> {
  const { conditions, outages, nowMs } = input
  const engines = await tx
    .select({ engine_id: engine.engine_id, name: engine.engine_name, host: engineState.engine_host_name })
    .from(engine)
    .leftJoin(engineState, eq(engineState.engine_id, engine.engine_id))
  const sources = await findSources(tx)
  const result: EngineObservations = { observations: [], unknownEngines: new Set(), references: new Map() }

  for (const { engine_id, name, host } of engines) {
    const subject: Subject = { key: engine_id, name, engine_id, source_id: null }
    const received = conditions.get(engine_id)
    const fresh = received && nowMs - received.receivedMs <= MAX_AGE_MS ? received : undefined
    const outage = outages.find(outage => outage.engine_id === engine_id)
    result.observations.push(observeConnection(subject, outage, fresh?.condition))
    if (!fresh || outage) result.unknownEngines.add(engine_id)
    else {
      const isLocal = host === input.hostname
      result.observations.push(...observeMachine(subject, fresh, isLocal, input))
      for (const condition of fresh.condition.sources) {
        // Another client may have created sources on the engine.
        const known = sources.get(toKey(engine_id, condition.id))
        if (!known) continue
        const { source_id, source_name } = known
        const sourceSubject = { key: source_id, name: source_name, engine_id, source_id }
        const reference = input.references.get(source_id)
        const observed = observeSource(condition, sourceSubject, reference, input.thresholds)
        result.observations.push(...observed.observations)
        if (observed.reference && !input.evaluated.has(fresh))
          result.references.set(source_id, observed.reference)
      }
    }
  }
  return result
}

/** Returns the sources by their engine and their id on it. */
async function findSources(tx: Transaction) {
  const rows = await tx
    .select({
      source_id: source.source_id,
      source_name: source.source_name,
      engine_id: source.engine_id,
      source_sid: source.source_sid,
    })
    .from(source)
    .where(isNotNull(source.source_sid))
  return new Map(rows.map(row => [toKey(row.engine_id, row.source_sid!), row]))
}

const toKey = (engine_id: string, sid: number) => `${engine_id} ${sid}`

function observeConnection(
  subject: Subject,
  outage: EngineOutage | undefined,
  condition: EngineCondition | undefined,
): Observation {
  const reason = outage?.reason ?? condition?.outage
  const isKnown = outage !== undefined || condition !== undefined
  return {
    kind: 'engine_away',
    subject,
    isPresent: isKnown ? reason !== undefined : undefined,
    reason: reason ?? '',
  }
}

function observeMachine(
  subject: Subject,
  { condition, requestedMs, receivedMs }: ReceivedCondition,
  isLocal: boolean,
  { thresholds, nowMs }: EngineObservationsInput,
): Observation[] {
  const { time, disk, license_until } = condition
  const differenceMs = Date.parse(time) - (requestedMs + receivedMs) / 2
  const licenseEnd = license_until === undefined ? undefined : new Date(license_until)
  return [
    observeClock(differenceMs, receivedMs - requestedMs, subject, thresholds),
    observeEnd('license_ending', licenseEnd, subject, nowMs, thresholds),
    ...(isLocal ? [] : [observeDisk(disk, subject, thresholds)]),
  ]
}
