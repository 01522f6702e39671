import { createHash } from 'node:crypto'
import { managementRoutes } from '@eyrie/contract/management/index'
import { and, eq } from 'drizzle-orm'
import { v7 } from 'uuid'
import { image } from '../../../db/schema/index.ts'
import { missingRecords } from '../../../errors/field-errors.ts'
import type { ImageStore } from '../../../images/image-store.ts'
import { reencodeJpeg } from '../../../images/reencode-jpeg.ts'
import { longOperation, type Operation } from '../../api/operation.ts'

const { secure, upload } = managementRoutes.image

const UPLOADED = 'image'

export const imageOperations = (store: ImageStore): Operation[] => [
  longOperation(upload, async ({ file, caller, context }, database) => {
    const bytes = await reencodeJpeg(new Uint8Array(await file!.arrayBuffer()))
    const image_id = v7()
    const path = `${image_id}.jpg`
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    // The file comes first: a row without one would be a broken image, a file without a row is only in nobody's way.
    await store.write(path, bytes)
    await database.as(caller, upload.path, async tx => {
      const organization_id = caller.memberships[0] ?? null
      await tx
        .insert(image)
        .values({ image_id, path, type: UPLOADED, sha256, bytes: bytes.length, organization_id })
    })
    context.header('Location', `/api/v1${secure.path}?path=${path}&type=${UPLOADED}`)
    return undefined
  }),

  longOperation(secure, async ({ input: { path, type }, caller, context }, database) => {
    const [found] = await database.as(caller, secure.path, tx =>
      tx
        .select()
        .from(image)
        .where(and(eq(image.path, path), eq(image.type, type))),
    )
    if (!found) throw missingRecords([{ field: 'path', record: 'image' }])
    context.header('Content-Type', 'image/jpeg')
    context.header('ETag', `"${found.sha256}"`)
    context.header('Cache-Control', 'private, max-age=3600')
    return context.body(await store.read(found.path))
  }),
]
