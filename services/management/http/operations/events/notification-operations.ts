import { notificationRoutes } from '@eyrie/contract/management/notification'
import { and, asc, desc, eq, gte, isNotNull, lt, type SQL } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { notification } from '../../../db/schema/index.ts'
import { fieldError, missingRecords } from '../../../errors/field-errors.ts'
import type { PictureStore } from '../../../events/pictures/picture-store.ts'
import { parsePeriod } from '../../../events/statistics/period.ts'
import type { Period } from '../../../events/statistics/samples.ts'
import { findChannelOfUsecase, findUsecaseKey } from '../../../inventory/usecases.ts'
import { defineOperation } from '../../api/operation.ts'
import { toImageUrl } from '../../api/response-urls.ts'

type NotificationRow = typeof notification.$inferSelect

const PICTURE_UNAVAILABLE =
  'the picture of this notification is not available: ' +
  'it arrives from the engine after a few seconds, and is deleted at the end of the retention'

/**
 * Maximum size of the pictures in one response. The API returns each byte of a picture as a
 * number in a JSON array.
 */
const MAX_PICTURE_BYTES = 16 * 1024 * 1024

/**
 * API operations that read notifications and their pictures. A notification is the stored result of
 * an alert that fired. Depending on the route, the usecase key is in the field `usecase` or
 * `stream_key`. `findChannelOfUsecase` throws an error about this field if the channel has a
 * different usecase. `nowMs` returns epoch ms.
 */
export const notificationOperations = (
  pictures: Pick<PictureStore, 'read'>,
  nowMs: () => number,
) => [
  defineOperation(notificationRoutes.gallery, async ({ input }, tx) => {
    const { channel_id, stream_key: usecaseKey } = input
    const period = parsePeriod(input.start, input.end, nowMs())
    await findChannelOfUsecase(tx, { channel_id, usecase_key: usecaseKey, field: 'stream_key' })
    const isInGallery = and(isInPeriod(channel_id, period), isNotNull(notification.picture))
    const rows = await selectNewestFirst(tx, isInGallery)
      .limit(input.notification_limit)
      .offset(input.notification_offset)
    return {
      value: { channel_id, usecase_key: usecaseKey, gallery: await loadPictures(rows, pictures) },
    }
  }),

  defineOperation(notificationRoutes.galleryImage, async ({ input }, tx) => {
    const { channel_id, notification_uuid } = input
    const rows = notification_uuid
      ? [await findNotification(tx, { channel_id, notification_uuid })]
      : await selectNewestWithPicture(tx, channel_id)
    const usecaseKey = await findUsecaseKey(tx, channel_id)
    return {
      value: { channel_id, usecase_key: usecaseKey, gallery: await loadPictures(rows, pictures) },
    }
  }),

  defineOperation(notificationRoutes.image, async ({ input, context }, tx) => {
    const { picture } = await findNotification(tx, input)
    const jpeg = picture === null ? undefined : await pictures.read(picture)
    if (!jpeg) throw fieldError('notification_uuid', PICTURE_UNAVAILABLE, { code: 'id' })

    context.header('Content-Type', 'image/jpeg')
    context.header('ETag', `"${picture}"`)
    context.header('Cache-Control', 'private, max-age=3600')
    return context.body(new Uint8Array(jpeg))
  }),

  defineOperation(notificationRoutes.range, async ({ input }, tx) => {
    const { channel_id, usecase: usecaseKey } = input
    const { start, end, ...period } = parsePeriod(input.start, input.end, nowMs())
    await findChannelOfUsecase(tx, { channel_id, usecase_key: usecaseKey, field: 'usecase' })
    const rows = await selectNewestFirst(tx, isInPeriod(channel_id, period))
      .limit(input.notification_limit)
      .offset(input.notification_offset)
    const notifications = rows.map(toNotification)
    return { value: { channel_id, usecase_key: usecaseKey, start, end, notifications } }
  }),

  defineOperation(notificationRoutes.get, async ({ input }, tx) => {
    const { channel_id, usecase: usecaseKey } = input
    await findChannelOfUsecase(tx, { channel_id, usecase_key: usecaseKey, field: 'usecase' })
    return { value: toNotification(await findNotification(tx, input)) }
  }),
]

/** The condition that a notification is on a channel, and was sent within a period. */
const isInPeriod = (channelId: string, { from, to }: Period) =>
  and(
    eq(notification.channel_id, channelId),
    gte(notification.notification_time, new Date(from)),
    lt(notification.notification_time, new Date(to)),
  )

const selectNewestFirst = (tx: Transaction, condition: SQL | undefined) =>
  tx
    .select()
    .from(notification)
    .where(condition)
    .orderBy(desc(notification.notification_time), asc(notification.notification_uuid))

const selectNewestWithPicture = (tx: Transaction, channelId: string) =>
  selectNewestFirst(
    tx,
    and(eq(notification.channel_id, channelId), isNotNull(notification.picture)),
  ).limit(1)

/**
 * Returns a notification of a channel. Throws `EyrieError` (`id`) if the channel has
 * no such notification.
 */
async function findNotification(
  tx: Transaction,
  { channel_id, notification_uuid }: { channel_id: string; notification_uuid: string },
): Promise<NotificationRow> {
  const [row] = await tx
    .select()
    .from(notification)
    .where(
      and(
        eq(notification.notification_uuid, notification_uuid),
        eq(notification.channel_id, channel_id),
      ),
    )
  if (!row) {
    throw missingRecords([{ field: 'notification_uuid', record: 'notification on this channel' }])
  }
  return row
}

const toNotification = (row: NotificationRow) => ({
  ...row,
  notification_data: {
    ...(row.notification_data as Record<'from' | 'message' | 'subject' | 'to', string>),
    attachment: row.picture ?? '',
  },
  image_url: toImageUrl(row),
})

/**
 * Returns the stored pictures of notifications, `MAX_PICTURE_BYTES` in total. A larger picture is
 * returned if it is the first.
 */
async function loadPictures(
  rows: readonly NotificationRow[],
  pictures: Pick<PictureStore, 'read'>,
) {
  const loaded: { image: number[]; image_url: string; time_stamp: Date; uuid: string }[] = []
  let totalBytes = 0
  for (const row of rows) {
    const jpeg = row.picture === null ? undefined : await pictures.read(row.picture)
    if (!jpeg) continue

    totalBytes += jpeg.length
    if (totalBytes > MAX_PICTURE_BYTES && loaded.length > 0) break
    loaded.push({
      image: [...jpeg],
      image_url: toImageUrl(row),
      time_stamp: row.notification_time,
      uuid: row.notification_uuid,
    })
  }
  return loaded
}
