import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allowedPath } from './paths.ts'

describe('a path given from outside', () => {
  let folder: string
  let root: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'eyrie-paths-'))
    root = join(folder, 'media')
    await mkdir(root)
    await mkdir(join(folder, 'media-secret'))
    await writeFile(join(root, 'clip one.mp4'), '')
    await writeFile(join(folder, 'secret.mp4'), '')
    await symlink(join(folder, 'secret.mp4'), join(root, 'link.mp4'))
    await symlink(folder, join(root, 'up'))
    await symlink(root, join(folder, 'alias'))
    await symlink(join(folder, 'nowhere.mp4'), join(root, 'dangling.mp4'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('is accepted under a root, as a path and as a URL', async () => {
    const path = join(root, 'clip one.mp4')
    expect(await allowedPath(path, [root])).toBe(path)
    expect(await allowedPath(pathToFileURL(path).href, [root])).toBe(path)
  })

  test('is accepted before the file exists', async () => {
    expect(await allowedPath(join(root, 'new/later.mp4'), [root])).toBe(join(root, 'new/later.mp4'))
  })

  test('is accepted under a root that is itself a link', async () => {
    expect(await allowedPath(join(root, 'clip one.mp4'), [join(folder, 'alias')])).toBe(
      join(root, 'clip one.mp4'),
    )
  })

  test.each([
    ['beside the roots', 'secret.mp4'],
    ['in a folder whose name begins like a root', 'media-secret/a.mp4'],
    ['that climbs out', 'media/../secret.mp4'],
    ['that a link leads out', 'media/link.mp4'],
    ['through a linked folder', 'media/up/secret.mp4'],
    ['that a dangling link leads out', 'media/dangling.mp4'],
    ['that is the root itself', 'media'],
  ])('is refused %s', async (_, path) => {
    await expect(allowedPath(join(folder, path), [root])).rejects.toMatchObject({ code: 'syntax' })
  })

  test.each(['relative.mp4', 'https://host/a.mp4', 'file://host/a.mp4', ''])(
    '%j is refused as no local file',
    async url => {
      await expect(allowedPath(url, [root])).rejects.toMatchObject({ code: 'syntax' })
    },
  )

  test.each(['file:///50%.mp4', 'file:///%c3'])('%j is refused with what to write for a %%', async url => {
    await expect(allowedPath(url, [root])).rejects.toThrow('write %25 for a literal %')
  })
})
