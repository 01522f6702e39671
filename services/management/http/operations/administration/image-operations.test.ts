import { Transformer } from '@napi-rs/image'
import { beforeAll, describe, expect, it } from 'vitest'
import type { SignedInUser } from '../../../../../test/fixtures/management/management.ts'
import { sharedManagement } from '../../../../../test/fixtures/management/shared-management.ts'

describe('images', () => {
  const management = sharedManagement()
  let jpeg: Uint8Array<ArrayBuffer>
  beforeAll(async () => {
    const pixels = new Uint8Array(16 * 8 * 4).fill(200)
    jpeg = new Uint8Array(await Transformer.fromRgbaPixels(pixels, 16, 8).jpeg())
  })

  const authorization = (as: SignedInUser) => ({ authorization: `Bearer ${as.token}` })

  const upload = (body: FormData | string | Uint8Array<ArrayBuffer>, type?: string) =>
    management.request('/image/upload', {
      method: 'POST',
      headers: { ...authorization(management.superadmin), ...(type && { 'content-type': type }) },
      body,
    })

  const form = (content: string | Uint8Array<ArrayBuffer> | Blob, field = 'image') => {
    const fields = new FormData()
    fields.set(field, new File([content], 'picture.jpg', { type: 'image/jpeg' }))
    return fields
  }

  const read = (location: string, as: SignedInUser) =>
    management.request(location.replace('/api/v1', ''), { headers: authorization(as) })

  it.each([
    ['as the body', () => upload(jpeg, 'image/jpeg')],
    ['as a body of no type', () => upload(jpeg)],
    ['in a form', () => upload(form(jpeg))],
    ['in any field of a form', () => upload(form(jpeg, 'photo'))],
  ])('uploaded %s are available at Location', async (_, send) => {
    const uploaded = await send()
    expect(uploaded.status).toBe(201)
    expect(await uploaded.json()).toMatchObject({ response: null, response_code: 201 })
    const shown = await read(uploaded.headers.get('location')!, management.superadmin)
    expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'image/jpeg'])
    const { width, height } = await new Transformer(
      new Uint8Array(await shown.arrayBuffer()),
    ).metadata()
    expect([width, height]).toEqual([16, 8])
  })

  it('are stored without metadata', async () => {
    const secret = new TextEncoder().encode('<script>alert(1)</script>')
    const uploaded = await upload(form(new Blob([jpeg, secret])))
    const shown = await read(uploaded.headers.get('location')!, management.superadmin)
    expect(Buffer.from(await shown.arrayBuffer()).toString('latin1')).not.toContain('script')
  })

  it.each([
    ['a page that is called a picture', '<html></html>'],
    [
      'a PNG that is called a JPEG',
      new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    ],
    ['a JPEG that is cut off', new Uint8Array([0xff, 0xd8, 0xff, 0xe0, 0x00, 0x10])],
    ['nothing', ''],
  ])('are rejected with 415: %s', async (_, content) => {
    expect((await upload(form(content))).status).toBe(415)
  })

  it('larger than 16 MiB are rejected with 413', async () => {
    expect((await upload(form(new Uint8Array(17 * 1024 * 1024)))).status).toBe(413)
  })

  it.each([undefined, 'image/jpeg'])(
    'are reported as missing for an empty body of type %s',
    async type => {
      const reply = await upload(new Uint8Array(), type)
      expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('image')])
    },
  )

  it('are rejected in a JSON body', async () => {
    expect((await upload('{}', 'application/json')).status).toBe(415)
  })

  it.each(['../secrets/signing-key.pem', '..%2F..%2Fetc%2Fpasswd', 'none.jpg'])(
    'are rejected with 404 for the path %s',
    async path => {
      const { status } = await read(`/image/secure?path=${path}&type=image`, management.superadmin)
      expect(status).toBe(404)
    },
  )
})
