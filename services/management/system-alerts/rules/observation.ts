import type { SystemAlertKind } from '@eyrie/contract/management/system-alert-kind'

/** What an alert is about: a camera, an engine, or the appliance itself. */
export interface Subject {
  /** The id of the source or engine, or `appliance`. */
  key: string
  name: string
  engine_id: string | null
  source_id: string | null
}

/** The appliance itself. */
export const APPLIANCE: Subject = {
  key: 'appliance',
  name: 'this appliance',
  engine_id: null,
  source_id: null,
}

/** What was observed about one possible failure. */
export interface Observation {
  kind: SystemAlertKind
  subject: Subject
  /** Whether the failure is present; undefined if that is unknown. */
  isPresent: boolean | undefined
  /** Describes the failure, without a full stop. Empty if it is not present. */
  reason: string
}

/** Creates an observation. The reason is omitted unless the failure is present. */
export const createObservation = (
  kind: SystemAlertKind,
  subject: Subject,
  isPresent: boolean | undefined,
  reason = '',
): Observation => ({ kind, subject, isPresent, reason: isPresent ? reason : '' })
