import type { EngineCondition, EngineOutage } from '@eyrie/contract'
import type { SystemAlertSettings } from '@eyrie/contract/management/system-alert'
import { eq, isNotNull } from 'drizzle-orm'
import type { Transaction } from '../db/database.ts'
import { engine, engineState, type ReportedCondition, source } from '../db/schema/index.ts'
import {
  type ObservedMachine,
  observeClock,
  observeDisk,
  observeEnd,
} from './rules/machine-rules.ts'
import {
  createObservation,
  type Observation,
  type Subject,
  toPresence,
} from './rules/observation.ts'
import type { PictureReference } from './rules/picture-rules.ts'
import { observeSource } from './rules/source-rules.ts'

// Observations about engines and their sources. An observation says whether a kind of failure
// is present. The observations are made from what engines report (their conditions), and from
// the outages of engines.

/** Maximum age of a condition. After that, nothing is known about its engine. */
const MAX_AGE_MS = 45_000

export interface EngineObservationsInput {
  /** The last condition of each engine. */
  conditions: ReadonlyMap<string, ReportedCondition>
  /** The conditions from whose pictures the references were already learned. */
  evaluated: ReadonlySet<ReportedCondition>
  outages: readonly EngineOutage[]
  /** How the pictures of each source usually look. */
  references: ReadonlyMap<string, PictureReference>
  thresholds: SystemAlertSettings['thresholds']
  /**
   * Host name of this machine. The disk of an engine on this machine is not observed here, because
   * it is the disk of the appliance.
   */
  hostname: string
  nowMs: number
}

export interface EngineObservations {
  observations: Observation[]
  /** The engines about whose sources nothing is known at present. */
  unknownEngines: Set<string>
  /** The new references of the sources from whose pictures something was learned. */
  references: Map<string, PictureReference>
}

/** Observes all engines and their sources. */
export async function observeEngines(
  tx: Transaction,
  input: EngineObservationsInput,
): Promise<EngineObservations> {
  const engines = await readEngines(tx)
  const storedSources = await readSources(tx)
  const observations: Observation[] = []
  const unknownEngines = new Set<string>()
  const references = new Map<string, PictureReference>()

  for (const { engine_id, name, host } of engines) {
    const subject: Subject = { key: engine_id, name, engine_id, source_id: null }
    const outage = input.outages.find(({ engine_id: id }) => id === engine_id)
    const reported = findCurrentCondition(engine_id, input)
    observations.push(observeConnection(subject, outage, reported?.condition))
    if (outage || !reported) {
      unknownEngines.add(engine_id)
      continue
    }

    const machine = { subject, nowMs: input.nowMs, thresholds: input.thresholds }
    observations.push(...observeClockAndLicense(reported, machine))
    observations.push(observeEvents(reported, subject))
    if (host !== input.hostname) observations.push(observeDisk(reported.condition.disk, machine))

    const isNew = !input.evaluated.has(reported)
    for (const condition of reported.condition.sources) {
      const stored = storedSources.get(toSourceKey(engine_id, condition.id))
      // Another client may have created sources on the engine that are not stored here.
      if (!stored) continue
      const observed = observeSource(condition, {
        subject: toSubject(stored),
        reference: input.references.get(stored.source_id),
        thresholds: input.thresholds,
      })
      observations.push(...observed.observations)
      if (observed.reference && isNew) references.set(stored.source_id, observed.reference)
    }
  }
  return { observations, unknownEngines, references }
}

/** Reads all engines, with the host names that they have reported. */
const readEngines = (tx: Transaction) =>
  tx
    .select({
      engine_id: engine.engine_id,
      name: engine.engine_name,
      host: engineState.engine_host_name,
    })
    .from(engine)
    .leftJoin(engineState, eq(engineState.engine_id, engine.engine_id))

/** Returns the last condition of an engine, or undefined if it is too old to be relied upon. */
function findCurrentCondition(
  engineId: string,
  { conditions, nowMs }: EngineObservationsInput,
): ReportedCondition | undefined {
  const reported = conditions.get(engineId)
  return reported && nowMs - reported.receivedMs <= MAX_AGE_MS ? reported : undefined
}

interface StoredSource {
  source_id: string
  source_name: string
  engine_id: string
}

/** Reads the sources that engines know, by `toSourceKey`. */
async function readSources(tx: Transaction): Promise<Map<string, StoredSource>> {
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
  const failure = { kind: 'engine_away', subject } as const
  if (!outage && !condition) return createObservation({ ...failure, presence: 'unknown' })
  const reason = outage?.reason ?? condition?.outage
  return createObservation({ ...failure, presence: toPresence(reason !== undefined), reason })
}

/** Observes the clock and the license of an engine. */
function observeClockAndLicense(
  { condition, requestedMs, receivedMs }: ReportedCondition,
  machine: ObservedMachine,
): Observation[] {
  const { time, license_until: licenseUntil } = condition
  const licenseEnd = licenseUntil === undefined ? undefined : new Date(licenseUntil)
  return [
    observeClock({ engineMs: Date.parse(time), requestedMs, receivedMs }, machine),
    observeEnd('license_ending', licenseEnd, machine),
  ]
}

/** Observes whether the events of an engine can be stored. */
const observeEvents = ({ areEventsLost }: ReportedCondition, subject: Subject): Observation =>
  createObservation({
    kind: 'events_lost',
    subject,
    presence: areEventsLost === undefined ? 'unknown' : toPresence(areEventsLost),
    reason: 'none of its events can be stored, so all of them are lost',
  })

const toSubject = ({ source_id, source_name, engine_id }: StoredSource): Subject => ({
  key: source_id,
  name: source_name,
  engine_id,
  source_id,
})
