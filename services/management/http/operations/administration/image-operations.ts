import { createHash } from 'node:crypto'
import { imageRoutes } from '@eyrie/contract/management/index'
import { and, eq } from 'drizzle-orm'
import { v7 } from 'uuid'
import { image } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import type { ImageStore } from '../../../images/image-store.ts'
import { reencodeJpeg } from '../../../images/reencode-jpeg.ts'
import { defineMultiStepOperation, type Operation } from '../../api/operation.ts'

/** Type of images that were uploaded by users. */
const UPLOADED_TYPE = 'image'

/** API operations for the upload and download of images. Uploaded images are re-encoded as JPEG. */
export const imageOperations = (store: ImageStore): Operation[] => [
  defineMultiStepOperation(imageRoutes.upload, async ({ file, caller, context }, database) => {
    const jpeg = await reencodeJpeg(new Uint8Array(await file.arrayBuffer()))
    const imageId = v7()
    const path = `${imageId}.jpg`
    const sha256 = createHash('sha256').update(jpeg).digest('hex')

    // The file is written first: a row without a file would be a broken image, but a file
    // without a row is harmless.
    await store.write(path, jpeg)
    await database.as(caller, imageRoutes.upload.path, async tx => {
      const organizationId = caller.memberships[0] ?? null
      await tx.insert(image).values({
        image_id: imageId,
        path,
        type: UPLOADED_TYPE,
        sha256,
        bytes: jpeg.length,
        organization_id: organizationId,
      })
    })

    context.header(
      'Location',
      `/api/v1${imageRoutes.secure.path}?path=${path}&type=${UPLOADED_TYPE}`,
    )
  }),

  defineMultiStepOperation(
    imageRoutes.secure,
    async ({ input: { path, type }, caller, context }, database) => {
      const [row] = await database.as(caller, imageRoutes.secure.path, tx =>
        tx
          .select()
          .from(image)
          .where(and(eq(image.path, path), eq(image.type, type))),
      )
      if (!row) throw missingRecords([{ field: 'path', record: 'image' }])

      context.header('Content-Type', 'image/jpeg')
      context.header('ETag', `"${row.sha256}"`)
      context.header('Cache-Control', 'private, max-age=3600')
      return context.body(await store.read(row.path))
    },
  ),
]
