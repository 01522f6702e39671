import { describe, expect, it } from 'vitest'
import { DEFAULT_SETTINGS } from '../system-alert-settings.ts'
import { observeEnd } from './machine-rules.ts'
import { APPLIANCE } from './observation.ts'

const HOUR_MS = 3_600_000

describe('the observation of a certificate', () => {
  const nowMs = Date.parse('2026-03-04T12:00:00Z')
  const machine = { subject: APPLIANCE, nowMs, thresholds: DEFAULT_SETTINGS.thresholds }

  it.each([
    [0, 'the TLS certificate ended on 2026-03-04'],
    [1, 'the TLS certificate ends on 2026-03-04, in less than a day'],
    [24, 'the TLS certificate ends on 2026-03-05, in 1 day'],
    [49, 'the TLS certificate ends on 2026-03-06, in 2 days'],
  ])('says when a certificate ends that is valid for %i more hours', (hours, reason) => {
    const endsAt = new Date(nowMs + hours * HOUR_MS)
    expect(observeEnd('certificate_ending', endsAt, machine)).toMatchObject({ reason })
  })
})
