import { z } from 'zod'
import { route } from './management-route.ts'
import { name, pagination, recordId, reference, timestamp } from './record-fields.ts'
import { timeExpression } from './time-expression.ts'

export const notification = z
  .object({
    notification_uuid: recordId,
    channel_id: recordId,
    usecase_key: z.string(),
    notification_time: timestamp,
    notification_extra: z.string().meta({ description: 'JSON with the alert, its condition and the value' }),
    notification_data: z.object({
      attachment: z
        .string()
        .meta({ description: 'SHA-256 of the picture; empty until the picture is available' }),
      from: z.string(),
      message: z.string(),
      subject: z.string(),
      to: z.string(),
    }),
  })
  .meta({ id: 'Notification' })
export type Notification = z.infer<typeof notification>

const byte = z.int().min(0).max(255)

/** Pictures of notifications, newest first. */
export const gallery = z
  .object({
    channel_id: recordId,
    usecase_key: z.string(),
    gallery: z.array(
      z.object({
        image: z.array(byte).meta({ description: 'Bytes of the JPEG file' }),
        time_stamp: timestamp,
        uuid: recordId,
      }),
    ),
  })
  .meta({ id: 'Gallery' })

const period = { ...pagination('notification'), start: timeExpression, end: timeExpression }
const channel_id = reference('channel')
const notification_uuid = reference('notification')

export const notificationRoutes = {
  gallery: route({
    method: 'get',
    path: '/notification/gallery',
    summary: 'Get the pictures of notifications',
    access: 'view',
    query: z.strictObject({ stream_key: name, channel_id, ...period }),
    status: 200,
    response: gallery,
  }),
  galleryImage: route({
    method: 'get',
    path: '/notification/gallery/image',
    summary: 'Get the picture of a notification',
    access: 'view',
    query: z.strictObject({ channel_id, notification_uuid: notification_uuid.optional() }),
    status: 200,
    response: gallery,
  }),
  range: route({
    method: 'get',
    path: '/notification/range',
    summary: 'Get the notifications of a channel in a time range',
    access: 'view',
    query: z.strictObject({ usecase: name, channel_id, ...period }),
    status: 200,
    response: z.object({
      channel_id: recordId,
      usecase_key: z.string(),
      start: z.string(),
      end: z.string(),
      notifications: z.array(notification),
    }),
  }),
  uuid: route({
    method: 'get',
    path: '/notification/uuid',
    summary: 'Get a notification',
    access: 'view',
    query: z.strictObject({ usecase: name, channel_id, notification_uuid }),
    status: 200,
    response: notification,
  }),
}
