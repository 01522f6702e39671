import { z } from 'zod'
import { bbox } from '../object.ts'
import { route } from './management-route.ts'
import { name, pagination, recordId, reference, timestamp } from './record-fields.ts'
import { timeExpression } from './time-expression.ts'

const imageUrl = z.string().meta({
  description:
    'Path of the picture: GET returns the JPEG file, with the same token. Empty if the notification has no picture',
})

/**
 * A notification in the management API: a message that an alert has sent to people when it fired.
 */
export const notification = z
  .object({
    notification_uuid: recordId,
    channel_id: recordId,
    usecase_key: z.string(),
    notification_time: timestamp,
    notification_extra: z.string().meta({
      description: 'JSON text with the alert, its condition and the value of the statistic',
    }),
    notification_data: z.object({
      attachment: z
        .string()
        .meta({ description: 'SHA-256 of the picture; empty until the picture is available' }),
      from: z.string(),
      message: z.string().meta({ description: 'Text of the message' }),
      subject: z.string(),
      to: z.string(),
    }),
    image_url: imageUrl,
    picture_offset: z.int().nullable().meta({
      description:
        'Milliseconds from notification_time to the moment that the picture shows; negative if that moment was earlier. Null if there is no picture',
    }),
    bbox: bbox.nullable().meta({
      description:
        'Box of the object that fired the alert, at notification_time, as a share of the picture (0 to 1). Null if no object fired it',
    }),
  })
  .meta({ id: 'Notification' })
export type Notification = z.infer<typeof notification>

const byte = z.int().min(0).max(255)

/**
 * Pictures of notifications, newest first. Each is in the response itself, and also at its
 * `image_url`.
 */
export const gallery = z
  .object({
    channel_id: recordId,
    usecase_key: z.string(),
    gallery: z.array(
      z.object({
        image: z.array(byte).meta({ description: 'Bytes of the JPEG file' }),
        image_url: imageUrl,
        time_stamp: timestamp,
        uuid: recordId,
      }),
    ),
  })
  .meta({ id: 'Gallery' })

const USECASE_KEY = 'Key of the usecase of the channel, such as `line-crossing`'
const usecase = name.meta({ description: USECASE_KEY })
const streamKey = name.meta({
  description: `${USECASE_KEY}. Other operations call this parameter \`usecase\``,
})

const timeRange = { ...pagination('notification'), start: timeExpression, end: timeExpression }
const channelId = reference('channel')
const notificationUuid = reference('notification')

export const notificationRoutes = {
  gallery: route({
    method: 'get',
    path: '/notification/gallery',
    summary: 'Get the pictures of notifications',
    access: 'view',
    query: z.strictObject({ stream_key: streamKey, channel_id: channelId, ...timeRange }),
    status: 200,
    response: gallery,
  }),

  galleryImage: route({
    method: 'get',
    path: '/notification/gallery/image',
    summary: 'Get the picture of a notification',
    description: 'Without notification_uuid, of the newest notification that has a picture.',
    access: 'view',
    query: z.strictObject({
      channel_id: channelId,
      notification_uuid: notificationUuid.optional(),
    }),
    status: 200,
    response: gallery,
  }),

  image: route({
    method: 'get',
    path: '/notification/image',
    summary: 'Get the picture of a notification as a JPEG file',
    description:
      'The field `image_url` of a notification is this path with the parameters of its picture.',
    access: 'view',
    query: z.strictObject({ channel_id: channelId, notification_uuid: notificationUuid }),
    status: 200,
    responseType: 'image/jpeg',
  }),

  range: route({
    method: 'get',
    path: '/notification/range',
    summary: 'Get the notifications of a channel in a time range',
    access: 'view',
    query: z.strictObject({ usecase, channel_id: channelId, ...timeRange }),
    status: 200,
    response: z.object({
      channel_id: recordId,
      usecase_key: z.string(),
      start: z.string(),
      end: z.string(),
      notifications: z.array(notification),
    }),
  }),

  get: route({
    method: 'get',
    path: '/notification/uuid',
    summary: 'Get a notification',
    access: 'view',
    query: z.strictObject({ usecase, channel_id: channelId, notification_uuid: notificationUuid }),
    status: 200,
    response: notification,
  }),
}
