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

/** Whether a failure is present; `unknown` while that cannot be observed. */
export type Presence = 'present' | 'absent' | 'unknown'

export const toPresence = (isPresent: boolean): Presence => (isPresent ? 'present' : 'absent')

/** What was observed about one possible failure. */
export interface Observation {
  kind: SystemAlertKind
  subject: Subject
  presence: Presence
  /** Describes the failure, without a full stop. Empty if it is not present. */
  reason: string
}

/** What a rule finds. It may describe the failure even if the failure is not present. */
type Finding = Omit<Observation, 'reason'> & { reason?: string | undefined }

/** Creates an observation. The reason is omitted unless the failure is present. */
export const createObservation = ({
  kind,
  subject,
  presence,
  reason = '',
}: Finding): Observation => ({
  kind,
  subject,
  presence,
  reason: presence === 'present' ? reason : '',
})
