import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resolveAllowedPath } from './paths.ts'

describe('resolveAllowedPath', () => {
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

  test('accepts a path or URL inside a root', async () => {
    const path = join(root, 'clip one.mp4')
    expect(await resolveAllowedPath(path, [root])).toBe(path)
    expect(await resolveAllowedPath(pathToFileURL(path).href, [root])).toBe(path)
  })

  test('accepts a file that does not exist yet', async () => {
    expect(await resolveAllowedPath(join(root, 'new/later.mp4'), [root])).toBe(
      join(root, 'new/later.mp4'),
    )
  })

  test('accepts a path inside a root that is a symbolic link', async () => {
    expect(await resolveAllowedPath(join(root, 'clip one.mp4'), [join(folder, 'alias')])).toBe(
      join(root, 'clip one.mp4'),
    )
  })

  test.each([
    ['outside the roots', 'secret.mp4'],
    ['in a folder whose name starts with the name of a root', 'media-secret/a.mp4'],
    ['with .. out of the root', 'media/../secret.mp4'],
    ['through a link out of the root', 'media/link.mp4'],
    ['through a linked folder', 'media/up/secret.mp4'],
    ['through a dangling link out of the root', 'media/dangling.mp4'],
    ['of the root itself', 'media'],
  ])('rejects a path %s', async (_, path) => {
    await expect(resolveAllowedPath(join(folder, path), [root])).rejects.toMatchObject({
      code: 'syntax',
    })
  })

  test.each(['relative.mp4', 'https://host/a.mp4', 'file://host/a.mp4', ''])(
    'rejects %j, which names no local file',
    async url => {
      await expect(resolveAllowedPath(url, [root])).rejects.toMatchObject({ code: 'syntax' })
    },
  )

  test.each(['file:///50%.mp4', 'file:///%c3'])(
    'rejects %j and explains how to write a literal %%',
    async url => {
      await expect(resolveAllowedPath(url, [root])).rejects.toThrow('write %25 for a literal %')
    },
  )
})
