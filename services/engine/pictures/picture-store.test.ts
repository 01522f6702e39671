import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { createPictureStore } from './picture-store.ts'

const jpeg = (fill: number, size = 100) => new Uint8Array(size).fill(fill)

const openStore = async (folder: string, bytes: number) => {
  const store = createPictureStore(folder, bytes)
  await store.open()
  return store
}

describe('picture store', () => {
  test('stores pictures by SHA-256 across restarts', async () => {
    const folder = createTemporaryFolder()
    const sha256 = await (await openStore(folder, 1000)).save(new TextEncoder().encode('abc'))
    expect(sha256).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    const again = await openStore(folder, 1000)
    expect(new TextDecoder().decode(await again.read(sha256))).toBe('abc')
    expect(await again.read('0'.repeat(64))).toBeUndefined()
  })

  test('deletes the oldest pictures first and counts duplicates once', async () => {
    const folder = createTemporaryFolder()
    const store = await openStore(folder, 250)
    const first = await store.save(jpeg(1))
    const second = await store.save(jpeg(2))
    await store.save(jpeg(1))
    await store.save(jpeg(3))
    expect(await store.read(second)).toBeUndefined()
    expect(await store.read(first)).toEqual(jpeg(1))
    expect(await readdir(folder)).toHaveLength(2)
  })

  test('stores a picture once when two channels save it at the same time', async () => {
    const folder = createTemporaryFolder()
    const store = await openStore(folder, 1000)
    const [one, other] = await Promise.all([store.save(jpeg(1)), store.save(jpeg(1))])
    expect(other).toBe(one)
    expect(store.failure()).toBeUndefined()
    expect(await readdir(folder)).toEqual([`${one}.jpg`])
  })

  test('deletes the oldest pictures and unfinished files at the start', async () => {
    const folder = createTemporaryFolder()
    const large = await openStore(folder, 1000)
    const old = await large.save(jpeg(1))
    const fresh = await large.save(jpeg(2))
    await utimes(join(folder, `${old}.jpg`), 1, 1)
    await writeFile(join(folder, 'half.jpg.new'), 'half')
    const store = await openStore(folder, 100)
    expect([await store.read(old), await store.read(fresh)]).toEqual([undefined, jpeg(2)])
    expect(await readdir(folder)).toEqual([`${fresh}.jpg`])
  })

  test('reports a failure of the disk until a picture is saved', async () => {
    const folder = createTemporaryFolder()
    const store = await openStore(folder, 1000)
    await rm(folder, { recursive: true })
    await expect(store.save(jpeg(1))).rejects.toThrow('ENOENT')
    expect(store.failure()).toContain('pictures of events cannot be saved (ENOENT)')
    await mkdir(folder)
    await store.save(jpeg(1))
    expect(store.failure()).toBeUndefined()
  })
})
