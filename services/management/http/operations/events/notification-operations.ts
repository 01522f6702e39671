import { notificationRoutes } from '@eyrie/contract/management/notification'
import { and, asc, desc, eq, gte, isNotNull, lt, type SQL } from 'drizzle-orm'
import type { Transaction } from '../../../db/database.ts'
import { notification } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import type { PictureStore } from '../../../events/pictures/picture-store.ts'
import { parsePeriod } from '../../../events/statistics/period.ts'
import type { Period } from '../../../events/statistics/samples.ts'
import { findChannelOfUsecase, findUsecaseKey } from '../../../inventory/usecases.ts'
import { operation } from '../../api/operation.ts'

const { gallery, galleryImage, range, uuid } = notificationRoutes

type Row = typeof notification.$inferSelect

/** Bytes of pictures in one answer, where each byte is a number of some digits. */
const MOST_BYTES = 16 << 20

/** What alerts have told. `now`: epoch ms. */
export const notificationOperations = (pictures: Pick<PictureStore, 'read'>, now: () => number) => [
  operation(gallery, async ({ input }, tx) => {
    const { stream_key, channel_id, notification_offset, notification_limit } = input
    const period = parsePeriod(input.start, input.end, now())
    const { usecase_key } = await findChannelOfUsecase(tx, channel_id, stream_key, 'stream_key')
    const rows = await newest(tx, and(within(channel_id, period), isNotNull(notification.picture)))
      .limit(notification_limit)
      .offset(notification_offset)
    return { value: { channel_id, usecase_key, gallery: await illustrate(rows, pictures) } }
  }),

  operation(galleryImage, async ({ input: { channel_id, notification_uuid } }, tx) => {
    const its = and(eq(notification.channel_id, channel_id), isNotNull(notification.picture))
    const rows = notification_uuid
      ? [await notificationOf(tx, channel_id, notification_uuid)]
      : await newest(tx, its).limit(1)
    const usecase_key = await findUsecaseKey(tx, channel_id)
    return { value: { channel_id, usecase_key, gallery: await illustrate(rows, pictures) } }
  }),

  operation(range, async ({ input }, tx) => {
    const { usecase, channel_id, notification_offset, notification_limit } = input
    const { start, end, ...period } = parsePeriod(input.start, input.end, now())
    const { usecase_key } = await findChannelOfUsecase(tx, channel_id, usecase, 'usecase')
    const rows = await newest(tx, within(channel_id, period))
      .limit(notification_limit)
      .offset(notification_offset)
    return { value: { channel_id, usecase_key, start, end, notifications: rows.map(shown) } }
  }),

  operation(uuid, async ({ input: { usecase, channel_id, notification_uuid } }, tx) => {
    await findChannelOfUsecase(tx, channel_id, usecase, 'usecase')
    return { value: shown(await notificationOf(tx, channel_id, notification_uuid)) }
  }),
]

const within = (channel_id: string, { from, to }: Period) =>
  and(
    eq(notification.channel_id, channel_id),
    gte(notification.notification_time, new Date(from)),
    lt(notification.notification_time, new Date(to)),
  )

const newest = (tx: Transaction, condition: SQL | undefined) =>
  tx
    .select()
    .from(notification)
    .where(condition)
    .orderBy(desc(notification.notification_time), asc(notification.notification_uuid))

/** Throws EyrieError `id` where it is another channel's. */
async function notificationOf(tx: Transaction, channel_id: string, notification_uuid: string): Promise<Row> {
  const [found] = await tx
    .select()
    .from(notification)
    .where(
      and(eq(notification.notification_uuid, notification_uuid), eq(notification.channel_id, channel_id)),
    )
  if (!found) throw missingRecords([{ field: 'notification_uuid', record: 'notification on this channel' }])
  return found
}

const shown = (row: Row) => ({
  ...row,
  notification_data: {
    ...(row.notification_data as Record<'from' | 'message' | 'subject' | 'to', string>),
    attachment: row.picture ?? '',
  },
})

/** Those whose pictures are here, up to what one answer can hold. */
async function illustrate(rows: readonly Row[], pictures: Pick<PictureStore, 'read'>) {
  const shown: { image: number[]; time_stamp: Date; uuid: string }[] = []
  let bytes = 0
  for (const { picture, notification_time, notification_uuid } of rows) {
    const jpeg = picture === null ? undefined : await pictures.read(picture)
    if (!jpeg) continue
    bytes += jpeg.length
    if (bytes > MOST_BYTES && shown.length > 0) break
    shown.push({ image: [...jpeg], time_stamp: notification_time, uuid: notification_uuid })
  }
  return shown
}
