import type { EngineCondition, EngineOutage } from '@eyrie/contract'
import type { SystemAlertSettings } from '@eyrie/contract/management/system-alert'
import { eq, isNotNull } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { engine, engineState, type ReportedCondition, source } from '../db/schema/index.ts'
import { observeClock, observeDisk, observeEnd } from './rules/machine-rules.ts'
import { createObservation, type Observation, type Subject } from './rules/observation.ts'
import type { PictureReference } from './rules/picture-rules.ts'
import { observeSource, type SourceObservations } from './rules/source-rules.ts'

// Observations about engines and their sources. An observation says whether a kind of failure
// is present. The observations are made from what engines report (their conditions), and from
// the outages of engines.

/** Maximum age of a condition. Nothing is known about an engine whose last condition is older. */
const MAX_AGE_MS = 45_000

export interface EngineObservationsInput {
  /** The last condition of each engine. */
  conditions: ReadonlyMap<string, ReportedCondition>
  /** The conditions that were evaluated before. Nothing is learned from their pictures again. */
  evaluated: ReadonlySet<ReportedCondition>
  outages: readonly EngineOutage[]
  /** How the pictures of each source usually look. */
  references: ReadonlyMap<string, PictureReference>
  thresholds: SystemAlertSettings['thresholds']
  /**
   * Host name of this machine. Its disk is observed as that of the appliance, not as that of an
   * engine.
   */
  hostname: string
  nowMs: number
}

export interface EngineObservations {
  observations: Observation[]
  /** The engines about whose sources nothing is known at present. */
  unknownEngines: Set<string>
  /** The changed references: of the sources from whose pictures something was learned. */
  references: Map<string, PictureReference>
}

/** Observes all engines and their sources. */
export async function observeEngines(
  tx: Transaction,
  input: EngineObservationsInput,
): Promise<EngineObservations> {
  const engines = await tx
    .select({
      engine_id: engine.engine_id,
      name: engine.engine_name,
      host: engineState.engine_host_name,
    })
    .from(engine)
    .leftJoin(engineState, eq(engineState.engine_id, engine.engine_id))
  const storedSources = await readSources(tx)
  const observations: Observation[] = []
  const unknownEngines = new Set<string>()
  const references = new Map<string, PictureReference>()

  for (const { engine_id: engineId, name, host } of engines) {
    const subject: Subject = { key: engineId, name, engine_id: engineId, source_id: null }
    const outage = input.outages.find(outage => outage.engine_id === engineId)
    const reported = findCurrentCondition(engineId, input)
    observations.push(observeConnection(subject, outage, reported?.condition))
    if (outage || !reported) {
      unknownEngines.add(engineId)
      continue
    }

    const isLocal = host === input.hostname
    observations.push(...observeMachine(subject, reported, isLocal, input))
    const isNew = !input.evaluated.has(reported)
    for (const source of observeSources(engineId, reported.condition, storedSources, input)) {
      observations.push(...source.observations)
      if (source.reference && isNew) references.set(source.source_id, source.reference)
    }
  }
  return { observations, unknownEngines, references }
}

function findCurrentCondition(
  engineId: string,
  { conditions, nowMs }: EngineObservationsInput,
): ReportedCondition | undefined {
  const reported = conditions.get(engineId)
  return reported && nowMs - reported.receivedMs <= MAX_AGE_MS ? reported : undefined
}

/** Reads the sources that engines know, by `toSourceKey`. */
async function readSources(tx: Transaction) {
  const rows = await tx
    .select({
      source_id: source.source_id,
      source_name: source.source_name,
      engine_id: source.engine_id,
      source_sid: source.source_sid,
    })
    .from(source)
    .where(isNotNull(source.source_sid))
  return new Map(rows.map(row => [toSourceKey(row.engine_id, row.source_sid!), row]))
}

/** A key of an engine and of the id that it has assigned to a source. */
const toSourceKey = (engineId: string, sourceSid: number) => `${engineId} ${sourceSid}`

function observeConnection(
  subject: Subject,
  outage: EngineOutage | undefined,
  condition: EngineCondition | undefined,
): Observation {
  if (!outage && !condition) return createObservation('engine_away', subject, undefined)
  const reason = outage?.reason ?? condition?.outage
  return createObservation('engine_away', subject, reason !== undefined, reason)
}

/**
 * Observes the clock and the license of an engine, and its disk unless that is the
 * disk of this appliance.
 */
function observeMachine(
  subject: Subject,
  { condition, requestedMs, receivedMs }: ReportedCondition,
  isLocal: boolean,
  { thresholds, nowMs }: EngineObservationsInput,
): Observation[] {
  const { time, disk, license_until: licenseUntil } = condition
  // The engine has probably read its clock in the middle of the request.
  const differenceMs = Date.parse(time) - (requestedMs + receivedMs) / 2
  const machine = { subject, nowMs, thresholds }
  const licenseEnd = licenseUntil === undefined ? undefined : new Date(licenseUntil)
  return [
    observeClock(differenceMs, receivedMs - requestedMs, machine),
    observeEnd('license_ending', licenseEnd, machine),
    ...(isLocal ? [] : [observeDisk(disk, machine)]),
  ]
}

interface ObservedSource extends SourceObservations {
  source_id: string
}

/**
 * Observes the sources of an engine that are stored here. Another client may have created
 * others on the engine.
 */
function observeSources(
  engineId: string,
  { sources }: EngineCondition,
  storedSources: Awaited<ReturnType<typeof readSources>>,
  { references, thresholds }: EngineObservationsInput,
): ObservedSource[] {
  const observed: ObservedSource[] = []
  for (const condition of sources) {
    const stored = storedSources.get(toSourceKey(engineId, condition.id))
    if (!stored) continue
    const { source_id: sourceId, source_name: sourceName } = stored
    const subject: Subject = {
      key: sourceId,
      name: sourceName,
      engine_id: engineId,
      source_id: sourceId,
    }
    observed.push({
      source_id: sourceId,
      ...observeSource(condition, subject, references.get(sourceId), thresholds),
    })
  }
  return observed
}
