import {
  type gallery as gallerySchema,
  type Notification,
  notificationRoutes,
} from '@eyrie/contract/management/notification'
import { and, asc, desc, eq, gte, isNotNull, lt, type SQL } from 'drizzle-orm'
import type { z } from 'zod'
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

/** Pictures as an operation returns them. The API writes their `Date` objects as text. */
type Gallery = z.input<typeof gallerySchema>['gallery']

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
 * an alert that fired. `gallery` and `galleryImage` return pictures in JSON; `image` returns one as
 * a JPEG file. `nowMs` returns the current time in epoch ms.
 *
 * Some requests name the channel and also its usecase, in the field `usecase` or `stream_key`.
 * `findChannelOfUsecase` rejects such a request if the channel has a different usecase.
 */
export const notificationOperations = (
  pictures: Pick<PictureStore, 'read'>,
  nowMs: () => number,
) => [
  defineOperation(notificationRoutes.gallery, async ({ input }, tx) => {
    const { channel_id, stream_key } = input
    const period = parsePeriod(input.start, input.end, nowMs())
    await findChannelOfUsecase(tx, { channel_id, usecase_key: stream_key, field: 'stream_key' })
    const isInGallery = and(isInPeriod(channel_id, period), isNotNull(notification.picture))
    const gallery = await loadPictures(await selectPage(tx, isInGallery, input), pictures)
    return { value: { channel_id, usecase_key: stream_key, gallery } }
  }),

  defineOperation(notificationRoutes.galleryImage, async ({ input }, tx) => {
    const { channel_id, notification_uuid } = input
    const rows = notification_uuid
      ? [await findNotification(tx, { channel_id, notification_uuid })]
      : await selectNewestWithPicture(tx, channel_id)
    const usecaseKey = await findUsecaseKey(tx, channel_id)
    const gallery = await loadPictures(rows, pictures)
    return { value: { channel_id, usecase_key: usecaseKey, gallery } }
  }),

  defineOperation(notificationRoutes.image, async ({ input, context }, tx) => {
    const row = await findNotification(tx, input)
    const jpeg = await readPicture(row, pictures)
    // The code is the same as for a notification that does not exist.
    if (!jpeg) throw fieldError('notification_uuid', PICTURE_UNAVAILABLE, { code: 'id' })

    context.header('Content-Type', 'image/jpeg')
    context.header('ETag', `"${row.picture}"`)
    context.header('Cache-Control', 'private, max-age=3600')
    return context.body(new Uint8Array(jpeg))
  }),

  defineOperation(notificationRoutes.range, async ({ input }, tx) => {
    const { channel_id, usecase } = input
    const { start, end, ...period } = parsePeriod(input.start, input.end, nowMs())
    await findChannelOfUsecase(tx, { channel_id, usecase_key: usecase, field: 'usecase' })
    const rows = await selectPage(tx, isInPeriod(channel_id, period), input)
    const notifications = rows.map(toNotification)
    return { value: { channel_id, usecase_key: usecase, start, end, notifications } }
  }),

  defineOperation(notificationRoutes.get, async ({ input }, tx) => {
    const { channel_id, usecase } = input
    await findChannelOfUsecase(tx, { channel_id, usecase_key: usecase, field: 'usecase' })
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

const selectPage = (
  tx: Transaction,
  condition: SQL | undefined,
  page: { notification_limit: number; notification_offset: number },
) =>
  selectNewestFirst(tx, condition).limit(page.notification_limit).offset(page.notification_offset)

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

/** The texts that are stored with a notification. */
type NotificationTexts = Omit<Notification['notification_data'], 'attachment'>

const toNotification = (row: NotificationRow) => ({
  ...row,
  notification_data: {
    // The type of a JSON column is `unknown`. Only management writes it.
    ...(row.notification_data as NotificationTexts),
    attachment: row.picture ?? '',
  },
  image_url: toImageUrl(row),
})

/**
 * Returns the first pictures of notifications, up to `MAX_PICTURE_BYTES` in total. Notifications
 * without a stored picture are skipped. The first picture is returned even if it is larger.
 */
async function loadPictures(
  rows: readonly NotificationRow[],
  pictures: Pick<PictureStore, 'read'>,
): Promise<Gallery> {
  const loaded: Gallery = []
  let totalBytes = 0
  for (const row of rows) {
    const jpeg = await readPicture(row, pictures)
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

/** Returns the JPEG file of a notification. Undefined if the picture is not stored. */
const readPicture = async ({ picture }: NotificationRow, pictures: Pick<PictureStore, 'read'>) =>
  picture === null ? undefined : pictures.read(picture)
