import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'
import { createPictureStore } from './picture-store.ts'

const jpeg = (fill: number, size = 100) => new Uint8Array(size).fill(fill)

const openStore = async (folder: string, bytes: number) => {
  const store = createPictureStore(folder, bytes)
  await store.open()
  return store
}

describe('pictures', () => {
  test('are kept by their SHA-256, also over a restart', async () => {
    const folder = temporaryFolder()
    const sha256 = await (await openStore(folder, 1000)).keep(new TextEncoder().encode('abc'))
    expect(sha256).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    const again = await openStore(folder, 1000)
    expect(new TextDecoder().decode(await again.read(sha256))).toBe('abc')
    expect(await again.read('0'.repeat(64))).toBeUndefined()
  })

  test('make room, the oldest first, and count once what is kept twice', async () => {
    const folder = temporaryFolder()
    const store = await openStore(folder, 250)
    const first = await store.keep(jpeg(1))
    const second = await store.keep(jpeg(2))
    await store.keep(jpeg(1))
    await store.keep(jpeg(3))
    expect(await store.read(second)).toBeUndefined()
    expect(await store.read(first)).toEqual(jpeg(1))
    expect(await readdir(folder)).toHaveLength(2)
  })

  test('are kept once when two channels bring the same at the same time', async () => {
    const folder = temporaryFolder()
    const store = await openStore(folder, 1000)
    const [one, other] = await Promise.all([store.keep(jpeg(1)), store.keep(jpeg(1))])
    expect(other).toBe(one)
    expect(store.failure()).toBeUndefined()
    expect(await readdir(folder)).toEqual([`${one}.jpg`])
  })

  test('that are too many at the start go by their age; what a crash left unfinished goes too', async () => {
    const folder = temporaryFolder()
    const large = await openStore(folder, 1000)
    const old = await large.keep(jpeg(1))
    const fresh = await large.keep(jpeg(2))
    await utimes(join(folder, `${old}.jpg`), 1, 1)
    await writeFile(join(folder, 'half.jpg.new'), 'half')
    const store = await openStore(folder, 100)
    expect([await store.read(old), await store.read(fresh)]).toEqual([undefined, jpeg(2)])
    expect(await readdir(folder)).toEqual([`${fresh}.jpg`])
  })

  test('that the disk does not take are told until it takes one again', async () => {
    const folder = temporaryFolder()
    const store = await openStore(folder, 1000)
    await rm(folder, { recursive: true })
    await expect(store.keep(jpeg(1))).rejects.toThrow('ENOENT')
    expect(store.failure()).toContain('pictures of events cannot be kept (ENOENT)')
    await mkdir(folder)
    await store.keep(jpeg(1))
    expect(store.failure()).toBeUndefined()
  })
})
