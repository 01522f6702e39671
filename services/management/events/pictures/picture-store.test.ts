import { createHash, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { createPictureStore } from './picture-store.ts'

const jpeg = new Uint8Array(randomBytes(100_000))
const sha256 = createHash('sha256').update(jpeg).digest('hex')

describe('picture store', () => {
  it('stores a picture that several notifications store at the same time', async () => {
    const store = createPictureStore(createTemporaryFolder())
    await Promise.all(Array.from({ length: 8 }, () => store.write(sha256, jpeg)))
    expect(Buffer.compare((await store.read(sha256))!, jpeg)).toBe(0)
  })

  it('stores a removed picture again', async () => {
    const store = createPictureStore(createTemporaryFolder())
    await store.write(sha256, jpeg)
    await store.remove(sha256)
    expect(await store.read(sha256)).toBeUndefined()
    await store.write(sha256, jpeg)
    expect(await store.read(sha256)).toHaveLength(jpeg.length)
  })
})
