import {
  deliveryChangesRoute,
  deliveryClaimRoute,
  deliveryPicturePath,
  deliveryResultsRoute,
} from '@eyrie/contract/management/delivery-queue'
import { managementRoutes } from '@eyrie/contract/management/index'
import {
  armedStates,
  scheduleChanges,
  scheduleRules,
} from '@eyrie/contract/management/schedule-rules'
import { createErrorHandler, createLog } from '@eyrie/kit'
import { describe, expect, it } from 'vitest'
import {
  sharedManagement,
  sharedRecords,
} from '../../../../test/fixtures/management/shared-management.ts'
import { insertDeliveries } from '../../../../test/fixtures/scheduler/insert-deliveries.ts'
import {
  createSchedulerApp,
  SCHEDULER_TOKEN,
} from '../../../../test/fixtures/scheduler/scheduler-api.ts'
import { alertArming } from '../../db/schema/index.ts'
import { createSchedulerRoutes } from './scheduler-routes.ts'

const management = sharedManagement()
const records = sharedRecords(management)

const claim = { limit: 10, lease_s: 60, target_limit: 10, target_limits: {} }

function request(
  path: string,
  body?: object,
  token: string | undefined = SCHEDULER_TOKEN,
  app = createSchedulerApp(management),
) {
  app.onError(createErrorHandler(createLog('test', 'silent')))
  const headers = {
    'content-type': 'application/json',
    ...(token && { authorization: `Bearer ${token}` }),
  }
  return app.request(
    path,
    body ? { method: 'POST', body: JSON.stringify(body), headers } : { headers },
  )
}

describe('the routes of the scheduler', () => {
  it.each([undefined, '', 'other'])('reject the token %j', async token => {
    const paths = [
      [deliveryClaimRoute.path, claim],
      [deliveryResultsRoute.path, { results: [] }],
      [`${deliveryChangesRoute.path}?version=0`, undefined],
      [deliveryPicturePath('0'.repeat(64)), undefined],
      [scheduleRules.path, undefined],
      [armedStates.path, { states: [] }],
      [`${scheduleChanges.path}?version=0`, undefined],
    ] as const
    for (const [path, body] of paths) {
      expect((await request(path, body, token ?? '')).status).toBe(401)
    }
    expect(
      (await request(deliveryClaimRoute.path, claim, management.superadmin.token)).status,
    ).toBe(401)
  })

  it('reject every token if none is configured', async () => {
    const app = createSchedulerRoutes({
      token: undefined,
      database: () => management.database,
      services: () => management.scheduler,
    })
    expect((await request(deliveryClaimRoute.path, claim, 'undefined', app)).status).toBe(401)
  })

  it('return the settings with their secrets only with deliveries that need them', async () => {
    await management.call(managementRoutes.config.updateSmtp, { smtp_password: 'hidden' })
    const empty = await (await request(deliveryClaimRoute.path, claim)).json()
    expect(empty).toMatchObject({ deliveries: [], smtp: null, sms: null })
    await insertDeliveries(management.database, records, [{ action_to: 'ops@example.com' }])
    const batch = await (await request(deliveryClaimRoute.path, claim)).json()
    expect(deliveryClaimRoute.response.parse(batch)).toMatchObject({
      deliveries: [{ type: 'email' }],
      smtp: { smtp_password: 'hidden' },
      sms: null,
    })
  })

  it('reject an invalid body and an unknown picture', async () => {
    expect((await request(deliveryClaimRoute.path, { limit: 0 })).status).toBe(400)
    expect((await request(deliveryPicturePath('0'.repeat(64)))).status).toBe(404)
  })

  it('return the schedules with their exceptions, and accept armed states', async () => {
    const { alert_id, calendar_id, schedule_id } = records
    const rules = await (await request(scheduleRules.path)).json()
    expect(scheduleRules.response.parse(rules)).toEqual({
      alerts: [
        {
          alert_id,
          timezone: 'UTC',
          schedules: [
            {
              schedule_id,
              schedule_type: 'window',
              occurrences: [],
              exceptions: [{ exception_type: 'disarm', calendar_id }],
            },
          ],
        },
      ],
      calendars: [{ calendar_id, events: [] }],
    })
    const [validFrom, validUntil] = ['2026-03-04T12:00:00.000Z', '2026-03-04T13:00:00.000Z']
    const state = {
      alert_id,
      is_armed: false,
      schedule_ids: [],
      valid_from: validFrom,
      valid_until: validUntil,
      next_change_at: null,
    }
    expect((await request(armedStates.path, { states: [state] })).status).toBe(200)
    expect(
      (await request(armedStates.path, { states: [{ ...state, is_armed: 'no' }] })).status,
    ).toBe(400)
    const rows = await management.database.system('test', tx => tx.select().from(alertArming))
    expect(rows).toMatchObject([{ alert_id, is_armed: false, valid_until: new Date(validUntil) }])
  })

  it('announce new deliveries to a waiting scheduler', async () => {
    const { deliveryChanges: changes, database } = management
    await new Promise<void>(resolve => {
      changes.start({
        ...database,
        listen: (channel, handle, ready) =>
          database.listen(channel, handle, () => {
            ready()
            resolve()
          }),
      })
    })
    const { signal } = new AbortController()
    const version = await changes.waitForChange(0, 0, signal)
    const changed = changes.waitForChange(version, 600_000, signal)
    await insertDeliveries(database, records, [{ action_to: 'ops@example.com' }])
    expect(await changed).toBeGreaterThan(version)
    await changes.stop()
  })
})
