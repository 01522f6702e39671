import { createHash, randomBytes } from 'node:crypto'
import { managementRoutes } from '@eyrie/contract/management/index'
import { asc, eq, gt } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  sharedManagement,
  sharedRecords,
} from '../../../test/fixtures/management/shared-management.ts'
import {
  alertState,
  channel,
  channelState,
  engineState,
  incident,
  liveMessage,
  notification,
  picture,
  systemAlert,
} from '../db/schema/index.ts'
import { readBounds } from './feed-log.ts'

const { incident: incidentRoutes, systemAlert: systemAlertRoutes } = managementRoutes

const management = sharedManagement()
const records = sharedRecords(management)
let startPosition = 0
beforeEach(async () => {
  startPosition = (await readBounds(management.database)).last
})

/** Returns the messages of the test, without those for the scheduler. */
const readMessages = () =>
  management.database.system('test', tx =>
    tx
      .select()
      .from(liveMessage)
      .where(gt(liveMessage.position, startPosition))
      .orderBy(asc(liveMessage.position)),
  )

const insertNotification = (sha256: string | null = null, time = new Date()) =>
  management.database.system('test', async tx => {
    const { channel_id, alert_id } = records
    const [row] = await tx
      .insert(notification)
      .values({
        channel_id,
        alert_id,
        usecase_key: 'line-crossing',
        notification_time: time,
        notification_data: { attachment: '', from: '', message: '', subject: '', to: '' },
        alert_name: 'alert',
        condition: 'gt',
        threshold: '1',
        threshold_key: 'total',
        value: 2,
        deliveries: [],
        picture: sha256,
      })
      .returning()
    return row!
  })

describe('the live feed contains', () => {
  it('notifications', async () => {
    const { notification_uuid } = await insertNotification(
      null,
      new Date('2026-03-04T12:00:00.250Z'),
    )
    expect(await readMessages()).toMatchObject([
      {
        kind: 'notification',
        channel_id: records.channel_id,
        site_ids: [records.site_id],
        data: {
          notification_uuid,
          alert_id: records.alert_id,
          alert_name: 'alert',
          alert_priority: 'low',
          usecase_key: 'line-crossing',
          notification_time: '2026-03-04T12:00:00.250Z',
          alert_threshold_key: 'total',
          alert_threshold_condition: 'gt',
          alert_threshold: '1',
          value: 2,
        },
      },
    ])
  })

  it('pictures of notifications as soon as they are stored, once for each notification', async () => {
    const sha256 = createHash('sha256').update(randomBytes(8)).digest('hex')
    const { engine_id, channel_id } = records
    const time = new Date()
    await management.database.system('test', tx =>
      tx.insert(picture).values({ sha256, engine_id, time, is_stored: true }),
    )
    const early = await insertNotification(sha256, time)
    const withoutPicture = await insertNotification(null, time)
    await management.database.system('test', tx =>
      tx.update(picture).set({ fetched_at: new Date() }).where(eq(picture.sha256, sha256)),
    )
    const late = await insertNotification(sha256, time)
    await management.database.system('test', tx =>
      tx
        .update(notification)
        .set({ picture: sha256, picture_offset: 100 })
        .where(eq(notification.notification_uuid, withoutPicture.notification_uuid)),
    )
    const pictures = (await readMessages()).filter(({ kind }) => kind === 'picture')
    expect(pictures.map(({ data }) => data.notification_uuid)).toEqual(
      [early, late, withoutPicture].map(({ notification_uuid }) => notification_uuid),
    )
    const { image_url: imageUrl, attachment, picture_offset } = pictures[2]!.data
    expect({ attachment, picture_offset }).toEqual({ attachment: sha256, picture_offset: 100 })
    const { notification_uuid } = withoutPicture
    const { response } = await management.call(managementRoutes.notification.get, {
      usecase: 'line-crossing',
      channel_id,
      notification_uuid,
    })
    expect(imageUrl).toBe(response.image_url)
  })

  it('the beginning and the end of an alert, and nothing while it continues', async () => {
    const { alert_id } = records
    const set = (holds: boolean) =>
      management.database.system('test', tx =>
        tx
          .insert(alertState)
          .values({ alert_id, holds })
          .onConflictDoUpdate({
            target: alertState.alert_id,
            set: { holds, looked_at: new Date() },
          }),
      )
    for (const holds of [false, true, true, false]) await set(holds)
    expect(await readMessages()).toMatchObject([
      { kind: 'alert_state', data: { alert_id, alert_name: 'alert', is_firing: true } },
      { kind: 'alert_state', data: { alert_id, is_firing: false } },
    ])
  })

  it('changes of the states of channels, sources and engines', async () => {
    const { channel_id, source_id, engine_id: engineId } = records
    const setChannel = (values: Partial<typeof channelState.$inferInsert>) =>
      management.database.system('test', tx =>
        tx
          .insert(channelState)
          .values({ channel_id, ...values })
          .onConflictDoUpdate({ target: channelState.channel_id, set: values }),
      )
    await setChannel({ status: 'running', is_heard: true })
    await setChannel({ status: 'running', is_heard: true, heard_at: new Date() })
    await setChannel({ status: 'lost', reason: 'no route' })
    await management.database.system('test', async tx => {
      await tx.insert(engineState).values({ engine_id: engineId })
      await tx
        .update(engineState)
        .set({ engine_status: 1 })
        .where(eq(engineState.engine_id, engineId))
      await tx.update(engineState).set({ seq: 7 }).where(eq(engineState.engine_id, engineId))
    })
    expect(await readMessages()).toMatchObject([
      {
        kind: 'channel_state',
        channel_id,
        data: { status: 'running', is_current: true, is_active: true },
      },
      {
        kind: 'source_state',
        source_id,
        site_ids: [records.site_id],
        data: { is_connected: true },
      },
      {
        kind: 'channel_state',
        channel_id,
        data: { status: 'lost', reason: 'no route', is_active: false },
      },
      { kind: 'source_state', source_id, data: { is_connected: false } },
      {
        kind: 'engine_state',
        engine_id: engineId,
        site_ids: [records.site_id],
        data: { engine_status: 1, engine_reason: '' },
      },
    ])
  })

  it('incidents that begin, go on, are acknowledged, and end, and nothing while they do not change', async () => {
    const { channel_id, alert_id, notification_uuid: notificationUuid } = records
    const time = new Date('2026-03-04T12:00:00.250Z')
    const incidentId = await management.database.system('test', async tx => {
      const [row] = await tx
        .insert(incident)
        .values({
          ...{
            channel_id,
            alert_id,
            alert_name: 'alert',
            alert_priority: 'low',
            usecase_key: 'line-crossing',
          },
          ...{ started_at: time, last_at: time, count: 1, peak: 2 },
          ...{ best_notification: notificationUuid, best_area: 0 },
        })
        .returning()
      return row!.incident_id
    })
    const set = (fields: Partial<typeof incident.$inferInsert>) =>
      management.database.system('test', tx =>
        tx.update(incident).set(fields).where(eq(incident.incident_id, incidentId)),
      )
    await set({ count: 2, peak: 5 })
    await set({ notified_at: time })
    await management.call(incidentRoutes.acknowledge, { incident_id: incidentId })
    await set({ ended_at: time })
    const messages = await readMessages()
    const { email } = management.superadmin
    expect(messages).toMatchObject([
      {
        kind: 'incident',
        channel_id,
        site_ids: [records.site_id],
        data: {
          ...{
            incident_id: incidentId,
            alert_id,
            alert_name: 'alert',
            notification_uuid: notificationUuid,
          },
          ...{ incident_state: 'open', incident_count: 1, peak: 2 },
          ...{ started_at: '2026-03-04T12:00:00.250Z', ended_at: null, acknowledged_by: '' },
        },
      },
      {
        kind: 'incident',
        data: { incident_id: incidentId, incident_state: 'open', incident_count: 2, peak: 5 },
      },
      { kind: 'incident', data: { incident_state: 'acknowledged', acknowledged_by: email } },
      {
        kind: 'incident',
        data: { incident_state: 'resolved', ended_at: '2026-03-04T12:00:00.250Z' },
      },
    ])
    // The messages and the list agree.
    const { response } = await management.call(incidentRoutes.get, { incident_id: incidentId })
    const { notification_uuid: _, ...fields } = messages.at(-1)!.data
    expect(response).toMatchObject(fields)
  })

  it('system alerts that begin, are acknowledged, and end, about a camera, an engine or the appliance', async () => {
    const { source_id: sourceId, engine_id: engineId } = records
    const time = new Date('2026-03-04T12:00:00Z')
    const subjects = [
      { subject: sourceId, source_id: sourceId, engine_id: engineId },
      { subject: engineId, source_id: null, engine_id: engineId },
      { subject: 'appliance', source_id: null, engine_id: null },
    ]
    const rows = await management.database.system('test', tx =>
      tx
        .insert(systemAlert)
        .values(
          subjects.map(subject => ({
            ...{
              ...subject,
              kind: 'disk_filling' as const,
              subject_name: 'Door',
              message: 'only 1 MB is free',
            },
            ...{ began_at: time, opened_at: time, last_seen_at: time },
          })),
        )
        .returning(),
    )
    const { system_alert_id: systemAlertId } = rows[0]!
    await management.call(systemAlertRoutes.acknowledge, { system_alert_id: systemAlertId })
    const isFirst = eq(systemAlert.system_alert_id, systemAlertId)
    for (const fields of [{ last_seen_at: new Date() }, { ended_at: time }]) {
      await management.database.system('test', tx =>
        tx.update(systemAlert).set(fields).where(isFirst),
      )
    }
    const begun = {
      system_alert_state: 'open',
      system_alert_message: 'only 1 MB is free',
      ended_at: null,
    }
    expect(await readMessages()).toMatchObject([
      {
        kind: 'system_alert',
        source_id: sourceId,
        engine_id: null,
        data: { ...begun, system_alert_id: systemAlertId },
      },
      { kind: 'system_alert', source_id: null, engine_id: engineId, data: begun },
      { kind: 'system_alert', source_id: null, engine_id: null, data: begun },
      {
        source_id: sourceId,
        data: {
          system_alert_id: systemAlertId,
          system_alert_state: 'open',
          acknowledged_at: expect.any(String),
        },
      },
      {
        source_id: sourceId,
        data: { system_alert_state: 'closed', ended_at: '2026-03-04T12:00:00.000Z' },
      },
    ])
  })

  it('a message for the scheduler when names or the MQTT settings change', async () => {
    await management.database.system('test', tx =>
      tx
        .update(channel)
        .set({ channel_name: 'Door' })
        .where(eq(channel.channel_id, records.channel_id)),
    )
    await management.call(managementRoutes.config.updateMqtt, { mqtt_box: 'office' })
    expect((await readMessages()).map(({ kind }) => kind)).toEqual(['inventory', 'inventory'])
  })
})
