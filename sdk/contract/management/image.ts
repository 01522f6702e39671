import { z } from 'zod'
import { route } from './management-route.ts'
import { name } from './record-fields.ts'

/** Routes of stored images, such as icons of sites and pictures of events. */

export const imageRoutes = {
  secure: route({
    method: 'get',
    path: '/image/secure',
    summary: 'Get an image',
    access: 'view',
    query: z.strictObject({ path: name, type: name }),
    status: 200,
    responseType: 'image/jpeg',
  }),

  upload: route({
    method: 'post',
    path: '/image/upload',
    summary: 'Upload a JPEG image as the request body or as a form field',
    access: 'manage',
    fileField: 'image',
    fileTypes: ['image/jpeg', 'image/jpg', 'application/octet-stream'],
    status: 201,
    response: null,
  }),
}
