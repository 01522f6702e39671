import type { DeliveryRequest } from '@eyrie/contract/management/delivery-queue'
import { describe, expect, it } from 'vitest'
import { firingDetails } from '../../../test/fixtures/management/alert-records.ts'
import { createRequest } from '../alerts/notification-text.ts'
import { createDigestRequest } from './digest-request.ts'

const action = { action_type: 'email' as const, action_to: 'ops@example.com' }

const suppress = (alertName: string): DeliveryRequest =>
  createRequest(action, { ...firingDetails, alert_name: alertName })

describe('a digest', () => {
  it('counts a single message in the singular', () => {
    const { subject } = createDigestRequest(action, [suppress('Queue')])
    expect(subject).toBe('1 more notification: Queue on channel')
  })

  it('counts the alerts that it does not list', () => {
    const createDigest = (alerts: number) =>
      createDigestRequest(
        action,
        Array.from({ length: alerts }, (_, index) => suppress(`Queue ${index}`)),
      )
    expect(createDigest(31).message).toMatch(/and 1 other alert$/)
    expect(createDigest(32).message).toMatch(/and 2 other alerts$/)
    expect(createDigest(32).subject).toBe('32 more notifications of 32 alerts')
  })
})
