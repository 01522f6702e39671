import { z } from 'zod'
import { name } from './fields.ts'
import { route } from './route.ts'

export const imageRoutes = {
  secure: route({
    method: 'get',
    path: '/image/secure',
    summary: 'Get an image',
    access: 'view',
    query: z.strictObject({ path: name, type: name }),
    status: 200,
    answersFile: 'image/jpeg',
  }),
  upload: route({
    method: 'post',
    path: '/image/upload',
    summary: 'Upload a JPEG image, as the body or as a field of a form',
    access: 'manage',
    file: 'image',
    bytes: ['image/jpeg', 'image/jpg', 'application/octet-stream'],
    status: 201,
    answer: null,
  }),
}
