import { createHash, randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { managementRoutes } from '@eyrie/contract/management/index'
import { createLog } from '@eyrie/kit'
import { v7 } from 'uuid'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  createMessageFactory,
  type InsertedEngine,
  insertChannel,
  insertEngine,
} from '../../../../../test/fixtures/management/engine-messages.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'
import { alertSubscriber } from '../../../alerts/evaluate-messages.ts'
import { alert } from '../../../db/schema/index.ts'
import { createIngest } from '../../../events/ingest/ingest.ts'
import { fetchPictures } from '../../../events/pictures/picture-fetcher.ts'
import { createPictureStore } from '../../../events/pictures/picture-store.ts'

const { gallery, galleryImage, image, range, get } = managementRoutes.notification

const begin = Date.parse('2026-03-04T12:00:00Z')
const period = { start: '2026-03-04T12:00:00Z', end: '2026-03-04T13:00:00Z' }
const jpegs = Array.from({ length: 3 }, () => new Uint8Array(randomBytes(40)))
const sha256Of = (jpeg: Uint8Array) => createHash('sha256').update(jpeg).digest('hex')

const management = sharedManagement()
let heard: InsertedEngine
let channelId: string
let otherId: string
beforeAll(async () => {
  const { database, data } = management
  heard = await insertEngine(database)
  channelId = await insertChannel(database, heard, 'line-crossing', {
    channel_sid: 1,
    is_storage: true,
  })
  otherId = await insertChannel(database, heard, 'occupancy', { channel_sid: 2 })
  await database.system('test', tx =>
    tx.insert(alert).values({
      ...{
        alert_id: v7(),
        channel_id: channelId,
        alert_name: 'Each',
        alert_priority: 'low',
        alert_threshold: '0',
      },
      ...{ alert_threshold_condition: 'gt', alert_threshold_key: 'total', alert_frequency: 0 },
      alert_actions: [
        { action_type: 'email', action_to: 'ops@example.com', action_message: 'it is {{value}}' },
      ],
    }),
  )
  const log = createLog('test', 'silent')
  const { hello, crossing } = createMessageFactory()
  await createIngest({ database, subscribers: [alertSubscriber], log }).consume(heard.engine_id, [
    hello(),
    ...jpegs.map((jpeg, n) => crossing(1, begin + n * 1000, 'up', { picture: sha256Of(jpeg) })),
    crossing(1, begin + 5000),
  ])
  const source = {
    fetch: async (_: string, sha256: string) => jpegs.find(jpeg => sha256Of(jpeg) === sha256),
  }
  await fetchPictures({
    database,
    source,
    store: createPictureStore(resolve(data, 'management/pictures')),
    log,
    signal: new AbortController().signal,
  })
})

const ask = (more: object = {}) => ({
  usecase: 'line-crossing',
  channel_id: channelId,
  ...period,
  ...more,
})
const askGallery = (more: object = {}) => ({
  stream_key: 'line-crossing',
  channel_id: channelId,
  ...period,
  ...more,
})
const seconds = (time: string) => (Date.parse(time) - begin) / 1000
const fieldsAtFault = (response: unknown) =>
  (response as { fields: { field: string }[] }).fields.map(({ field }) => field)

describe('notifications by range', () => {
  it('are listed newest first', async () => {
    const { status, response } = await management.call(range, ask())
    expect(status).toBe(200)
    expect(response).toMatchObject({
      channel_id: channelId,
      usecase_key: 'line-crossing',
      ...period,
    })
    expect(response.notifications.map(each => seconds(each.notification_time))).toEqual([
      5, 2, 1, 0,
    ])
    expect(response.notifications[1]).toEqual({
      notification_uuid: expect.any(String),
      channel_id: channelId,
      usecase_key: 'line-crossing',
      notification_time: '2026-03-04T12:00:02.000Z',
      notification_extra: expect.stringContaining('"alert_name":"Each"'),
      notification_data: {
        attachment: sha256Of(jpegs[2]!),
        from: '',
        to: 'ops@example.com',
        subject: 'Each on Channel line-crossing',
        message: 'it is 3',
      },
      image_url: expect.stringMatching(/^\/api\/v1\/notification\/image\?channel_id=/),
      picture_offset: 0,
      bbox: null,
    })
    expect(response.notifications[0]!.image_url).toBe('')
  })

  it('are paged within their period', async () => {
    const page = await management.call(
      range,
      ask({ notification_offset: '1', notification_limit: '2' }) as never,
    )
    expect(page.response.notifications.map(each => seconds(each.notification_time))).toEqual([2, 1])
    const later = await management.call(range, ask({ start: '2026-03-04T12:00:02Z' }) as never)
    expect(later.response.notifications).toHaveLength(2)
    expect(
      (await management.call(range, ask({ start: '-1h', end: 'now' }) as never)).response
        .notifications,
    ).toEqual([])
  })
})

describe('single notifications', () => {
  it('are found by UUID on their channel', async () => {
    const [newest] = (await management.call(range, ask())).response.notifications
    const { notification_uuid } = newest!
    const found = await management.call(get, {
      usecase: 'line-crossing',
      channel_id: channelId,
      notification_uuid,
    })
    expect([found.status, found.response]).toEqual([200, newest])
    const elsewhere = await management.send(get, {
      usecase: 'occupancy',
      channel_id: otherId,
      notification_uuid,
    })
    expect([elsewhere.status, fieldsAtFault(elsewhere.response)]).toEqual([
      404,
      ['notification_uuid'],
    ])
  })

  it('that do not exist are rejected with 404', async () => {
    const { status, response } = await management.send(get, {
      usecase: 'line-crossing',
      channel_id: channelId,
      notification_uuid: v7(),
    })
    expect([status, fieldsAtFault(response)]).toEqual([404, ['notification_uuid']])
  })
})

describe('the gallery', () => {
  it('contains the bytes of the pictures, newest first', async () => {
    const { status, response } = await management.call(gallery, askGallery())
    expect(status).toBe(200)
    expect(response).toMatchObject({ channel_id: channelId, usecase_key: 'line-crossing' })
    expect(response.gallery.map(({ image }) => image)).toEqual(
      jpegs.toReversed().map(jpeg => [...jpeg]),
    )
    expect(response.gallery.map(({ time_stamp }) => seconds(time_stamp))).toEqual([2, 1, 0])
  })

  it('contains the address of each picture, which returns the JPEG file with the same rights', async () => {
    const viewer = await management.signIn('viewer', { sites: [heard.site_id] })
    const { response } = await management.call(gallery, askGallery(), viewer)
    const fetchImage = (url: string, { token }: { token: string }) =>
      management.request(url.replace('/api/v1', ''), {
        headers: { authorization: `Bearer ${token}` },
      })

    for (const [index, { image_url: imageUrl }] of response.gallery.entries()) {
      const picture = await fetchImage(imageUrl, viewer)
      expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
      expect(new Uint8Array(await picture.arrayBuffer())).toEqual(jpegs.at(-1 - index))
    }
    const stranger = await management.signIn('viewer')
    expect((await fetchImage(response.gallery[0]!.image_url, stranger)).status).toBe(404)
    expect((await management.request('/notification/image')).status).toBe(401)
  })

  it('has no address for a notification without a picture, and answers 404 for its picture', async () => {
    const [without] = (await management.call(range, ask())).response.notifications
    const { notification_uuid, image_url: imageUrl } = without!
    expect(imageUrl).toBe('')
    const { status, message } = await management.send(image, {
      channel_id: channelId,
      notification_uuid,
    })
    expect([status, message]).toEqual([
      404,
      expect.stringMatching(
        /^notification_uuid: the picture of this notification is not available/,
      ),
    ])
  })

  it('is paged', async () => {
    const { response } = await management.call(
      gallery,
      askGallery({ notification_offset: '2', notification_limit: '5' }) as never,
    )
    expect(response.gallery.map(({ image }) => image)).toEqual([[...jpegs[0]!]])
  })

  it('contains the picture of one notification, or the newest picture', async () => {
    const [first] = (await management.call(gallery, askGallery())).response.gallery.slice(-1)
    const one = await management.call(galleryImage, {
      channel_id: channelId,
      notification_uuid: first!.uuid,
    })
    expect([one.status, one.response]).toEqual([
      200,
      { channel_id: channelId, usecase_key: 'line-crossing', gallery: [first] },
    ])
    const newest = await management.call(galleryImage, { channel_id: channelId })
    expect(newest.response.gallery.map(({ image }) => image)).toEqual([[...jpegs[2]!]])
  })

  it('is empty without pictures', async () => {
    const [without] = (await management.call(range, ask())).response.notifications
    const { notification_uuid } = without!
    expect(
      (await management.call(galleryImage, { channel_id: channelId, notification_uuid })).response
        .gallery,
    ).toEqual([])
    const other = await management.call(galleryImage, { channel_id: otherId })
    expect(other.response).toEqual({ channel_id: otherId, usecase_key: 'occupancy', gallery: [] })
  })

  it.each([
    [{ stream_key: 'none' }, 404, 'stream_key'],
    [{ stream_key: 'occupancy' }, 400, 'stream_key'],
    [{ end: period.start }, 400, 'end'],
  ])('rejects %j', async (wrong, code, field) => {
    const { status, response } = await management.send(gallery, askGallery(wrong))
    expect([status, fieldsAtFault(response)]).toEqual([code, [field]])
  })

  it('is hidden from users who may not see the channel', async () => {
    const stranger = await management.signIn('viewer')
    const [newest] = (await management.call(range, ask())).response.notifications
    const { notification_uuid } = newest!
    for (const [route, input] of [
      [gallery, askGallery()],
      [galleryImage, { channel_id: channelId }],
      [image, { channel_id: channelId, notification_uuid }],
      [range, ask()],
      [get, { usecase: 'line-crossing', channel_id: channelId, notification_uuid }],
    ] as const) {
      expect((await management.send(route, input, stranger)).status).toBe(404)
    }
  })
})
