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

type NotificationRow = typeof notification.$inferSelect

const PICTURE_UNAVAILABLE =
  'the picture of this notification is not available: it arrives from the engine after a few seconds, and is deleted at the end of the retention'

/**
 * Maximum size of the pictures in one response. The API returns each byte of a picture as a
 * number in a JSON array.
 */
const MAX_PICTURE_BYTES = 16 * 1024 * 1024

/**
 * API operations that read notifications and their pictures. A notification is the stored result of
 * an alert that fired. Depending on the route, the usecase key is in the field `usecase` or
 * `stream_key`; errors about the usecase name this field. `nowMs` returns epoch ms.
 */
export const notificationOperations = (
  pictures: Pick<PictureStore, 'read'>,
  nowMs: () => number,
) => [
  defineOperation(notificationRoutes.gallery, async ({ input }, tx) => {
    const {
      stream_key: streamKey,
      channel_id: channelId,
      notification_offset: notificationOffset,
      notification_limit: notificationLimit,
    } = input
    const period = parsePeriod(input.start, input.end, nowMs())
    const { usecase_key } = await findChannelOfUsecase(tx, channelId, streamKey, 'stream_key')
    const inGallery = and(inPeriod(channelId, period), isNotNull(notification.picture))
    const rows = await selectNewestFirst(tx, inGallery)
      .limit(notificationLimit)
      .offset(notificationOffset)
    return {
      value: { channel_id: channelId, usecase_key, gallery: await loadPictures(rows, pictures) },
    }
  }),

  defineOperation(
    notificationRoutes.galleryImage,
    async ({ input: { channel_id: channelId, notification_uuid: notificationUuid } }, tx) => {
      const withPicture = and(
        eq(notification.channel_id, channelId),
        isNotNull(notification.picture),
      )
      const rows = notificationUuid
        ? [await findNotification(tx, channelId, notificationUuid)]
        : await selectNewestFirst(tx, withPicture).limit(1)
      const usecaseKey = await findUsecaseKey(tx, channelId)
      return {
        value: {
          channel_id: channelId,
          usecase_key: usecaseKey,
          gallery: await loadPictures(rows, pictures),
        },
      }
    },
  ),

  defineOperation(
    notificationRoutes.image,
    async (
      { input: { channel_id: channelId, notification_uuid: notificationUuid }, context },
      tx,
    ) => {
      const { picture } = await findNotification(tx, channelId, notificationUuid)
      const jpeg = picture === null ? undefined : await pictures.read(picture)
      if (!jpeg) throw fieldError('notification_uuid', PICTURE_UNAVAILABLE, { code: 'id' })

      context.header('Content-Type', 'image/jpeg')
      context.header('ETag', `"${picture}"`)
      context.header('Cache-Control', 'private, max-age=3600')
      return context.body(new Uint8Array(jpeg))
    },
  ),

  defineOperation(notificationRoutes.range, async ({ input }, tx) => {
    const {
      usecase,
      channel_id: channelId,
      notification_offset: notificationOffset,
      notification_limit: notificationLimit,
    } = input
    const { start, end, ...period } = parsePeriod(input.start, input.end, nowMs())
    const { usecase_key } = await findChannelOfUsecase(tx, channelId, usecase, 'usecase')
    const rows = await selectNewestFirst(tx, inPeriod(channelId, period))
      .limit(notificationLimit)
      .offset(notificationOffset)
    return {
      value: {
        channel_id: channelId,
        usecase_key,
        start,
        end,
        notifications: rows.map(toNotification),
      },
    }
  }),

  defineOperation(
    notificationRoutes.get,
    async (
      { input: { usecase, channel_id: channelId, notification_uuid: notificationUuid } },
      tx,
    ) => {
      await findChannelOfUsecase(tx, channelId, usecase, 'usecase')
      return { value: toNotification(await findNotification(tx, channelId, notificationUuid)) }
    },
  ),
]

/** The condition that a notification is on a channel, and was sent within a period. */
const inPeriod = (channelId: string, { from, to }: Period) =>
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

/**
 * Returns a notification of a channel. Throws `EyrieError` (`id`) if the channel has
 * no such notification.
 */
async function findNotification(
  tx: Transaction,
  channelId: string,
  notificationUuid: string,
): Promise<NotificationRow> {
  const [row] = await tx
    .select()
    .from(notification)
    .where(
      and(
        eq(notification.notification_uuid, notificationUuid),
        eq(notification.channel_id, channelId),
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

/** Returns the path of the picture, or an empty text for a notification without one. */
const toImageUrl = ({ picture, channel_id, notification_uuid }: NotificationRow) =>
  picture === null
    ? ''
    : `/api/v1${notificationRoutes.image.path}?${new URLSearchParams({ channel_id, notification_uuid })}`

/**
 * Returns the stored pictures of notifications, up to the size limit. The first picture is returned
 * even if it is larger.
 */
async function loadPictures(
  rows: readonly NotificationRow[],
  pictures: Pick<PictureStore, 'read'>,
) {
  const loaded: { image: number[]; image_url: string; time_stamp: Date; uuid: string }[] = []
  let totalBytes = 0
  for (const row of rows) {
    const {
      picture,
      notification_time: notificationTime,
      notification_uuid: notificationUuid,
    } = row
    const jpeg = picture === null ? undefined : await pictures.read(picture)
    if (!jpeg) continue

    totalBytes += jpeg.length
    if (totalBytes > MAX_PICTURE_BYTES && loaded.length > 0) break
    loaded.push({
      image: [...jpeg],
      image_url: toImageUrl(row),
      time_stamp: notificationTime,
      uuid: notificationUuid,
    })
  }
  return loaded
}
