import { notificationRoutes } from '@eyrie/contract/management/notification'
import { and, asc, desc, eq, gte, isNotNull, lt, type SQL } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { notification } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import type { PictureStore } from '../../../events/pictures/picture-store.ts'
import { parsePeriod } from '../../../events/statistics/period.ts'
import type { Period } from '../../../events/statistics/samples.ts'
import { findChannelOfUsecase, findUsecaseKey } from '../../../inventory/usecases.ts'
import { defineOperation } from '../../api/operation.ts'

const { gallery, galleryImage, range, uuid } = notificationRoutes

type Row = typeof notification.$inferSelect

/** Limit for the pictures of one answer, in which each byte is written as a decimal number. */
const MAX_PICTURE_BYTES = 16 << 20

/** Notifications of alerts. `now` returns epoch milliseconds. */
export const notificationOperations = (pictures: Pick<PictureStore, 'read'>, now: () => number) => [
  defineOperation(gallery, async ({ input }, tx) => {
    const { stream_key, channel_id, notification_offset, notification_limit } = input
    const period = parsePeriod(input.start, input.end, now())
    const { usecase_key } = await findChannelOfUsecase(tx, channel_id, stream_key, 'stream_key')
    const rows = await selectNewestFirst(
      tx,
      and(isWithin(channel_id, period), isNotNull(notification.picture)),
    )
      .limit(notification_limit)
      .offset(notification_offset)
    return { value: { channel_id, usecase_key, gallery: await loadPictures(rows, pictures) } }
  }),

  defineOperation(galleryImage, async ({ input: { channel_id, notification_uuid } }, tx) => {
    const hasPicture = and(eq(notification.channel_id, channel_id), isNotNull(notification.picture))
    const rows = notification_uuid
      ? [await findNotification(tx, channel_id, notification_uuid)]
      : await selectNewestFirst(tx, hasPicture).limit(1)
    const usecase_key = await findUsecaseKey(tx, channel_id)
    return { value: { channel_id, usecase_key, gallery: await loadPictures(rows, pictures) } }
  }),

  defineOperation(range, async ({ input }, tx) => {
    const { usecase, channel_id, notification_offset, notification_limit } = input
    const { start, end, ...period } = parsePeriod(input.start, input.end, now())
    const { usecase_key } = await findChannelOfUsecase(tx, channel_id, usecase, 'usecase')
    const rows = await selectNewestFirst(tx, isWithin(channel_id, period))
      .limit(notification_limit)
      .offset(notification_offset)
    return { value: { channel_id, usecase_key, start, end, notifications: rows.map(toNotification) } }
  }),

  defineOperation(uuid, async ({ input: { usecase, channel_id, notification_uuid } }, tx) => {
    await findChannelOfUsecase(tx, channel_id, usecase, 'usecase')
    return { value: toNotification(await findNotification(tx, channel_id, notification_uuid)) }
  }),
]

const isWithin = (channel_id: string, { from, to }: Period) =>
  and(
    eq(notification.channel_id, channel_id),
    gte(notification.notification_time, new Date(from)),
    lt(notification.notification_time, new Date(to)),
  )

const selectNewestFirst = (tx: Transaction, condition: SQL | undefined) =>
  tx
    .select()
    .from(notification)
    .where(condition)
    .orderBy(desc(notification.notification_time), asc(notification.notification_uuid))

/** Throws `EyrieError` (`id`) if the notification does not exist on this channel. */
async function findNotification(
  tx: Transaction,
  channel_id: string,
  notification_uuid: string,
): Promise<Row> {
  const [row] = await tx
    .select()
    .from(notification)
    .where(
      and(eq(notification.notification_uuid, notification_uuid), eq(notification.channel_id, channel_id)),
    )
  if (!row) throw missingRecords([{ field: 'notification_uuid', record: 'notification on this channel' }])
  return row
}

const toNotification = (row: Row) => ({
  ...row,
  notification_data: {
    ...(row.notification_data as Record<'from' | 'message' | 'subject' | 'to', string>),
    attachment: row.picture ?? '',
  },
})

/** Returns the stored pictures of the notifications, up to the size limit but at least one. */
async function loadPictures(rows: readonly Row[], pictures: Pick<PictureStore, 'read'>) {
  const loaded: { image: number[]; time_stamp: Date; uuid: string }[] = []
  let bytes = 0
  for (const { picture, notification_time, notification_uuid } of rows) {
    const jpeg = picture === null ? undefined : await pictures.read(picture)
    if (!jpeg) continue
    bytes += jpeg.length
    if (bytes > MAX_PICTURE_BYTES && loaded.length > 0) break
    loaded.push({ image: [...jpeg], time_stamp: notification_time, uuid: notification_uuid })
  }
  return loaded
}
