import { mkdtempSync, readdirSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { basename, join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createBrightCellDetector } from '../../test/fixtures/engine/detector-models.ts'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { createDraft, putInPlace } from './model-folders.ts'
import { openModelStore } from './model-store.ts'
import { addModel } from './write-models.ts'

const model = createBrightCellDetector({ width: 64, height: 64 })

const add = (root: string, label: string) =>
  addModel(root, { name: 'bright', labels: [label], head: 'yolox', license: 'MIT', model })

/** Opens the store, as the engine does when it starts, and returns the labels of its models. */
async function readLabels(root: string): Promise<string[]> {
  const store = await openModelStore({ roots: [root], log: { info() {}, warn() {} } })
  onTestFinished(store.close)
  return store.list().flatMap(({ card }) => card.labels)
}

describe('a model that is replaced', () => {
  /** The store, which has the version `old`. */
  let root: string
  /** The folders of the model, of the new version before and of the old version after. */
  let folder: string
  let draft: string
  let replaced: string

  beforeEach(async () => {
    root = createTemporaryFolder()
    folder = join(root, 'bright')
    draft = join(root, '.new-bright')
    replaced = join(root, '.old-bright')
    await add(root, 'old')
    const added = await add(createTemporaryFolder(), 'new')
    renameSync(added.folder, draft)
  })

  it.each([
    ['the new version is being written', 'old', () => rmSync(join(draft, 'model.json'))],
    ['the old version has been renamed', 'old', () => renameSync(folder, replaced)],
    [
      'the new version is in place',
      'new',
      () => {
        renameSync(folder, replaced)
        renameSync(draft, folder)
      },
    ],
    [
      'the old version is being deleted',
      'new',
      () => {
        renameSync(folder, replaced)
        renameSync(draft, folder)
        rmSync(join(replaced, 'model.json'))
      },
    ],
  ])('has one version after a crash while %s', async (_, label, crash) => {
    crash()
    expect(await readLabels(root)).toEqual([label])
    expect(readdirSync(root)).not.toContain('.old-bright')
  })

  it('can be replaced after a crash before the store is opened', async () => {
    renameSync(folder, replaced)
    await add(root, 'newer')
    expect(readdirSync(root)).not.toContain('.old-bright')
    expect(await readLabels(root)).toEqual(['newer'])
  })

  it('remains if the new version cannot be put in place', async () => {
    const otherDisk = mkdtempSync('/dev/shm/eyrie-test-')
    onTestFinished(() => rmSync(otherDisk, { recursive: true }))
    await expect(putInPlace(root, 'bright', otherDisk)).rejects.toThrow('EXDEV')
    expect(await readLabels(root)).toEqual(['old'])
  })
})

it('deletes drafts that a crash has left, but none that is being written', async () => {
  const root = createTemporaryFolder()
  const [old, current] = [await createDraft(root, 'bright'), await createDraft(root, 'bright')]
  utimesSync(old, 0, 0)
  await readLabels(root)
  expect(readdirSync(root)).toEqual([basename(current)])
})

it('does not restore a model whose deletion was interrupted', async () => {
  const root = createTemporaryFolder()
  await add(root, 'old')
  renameSync(join(root, 'bright'), join(root, '.removed-bright'))
  expect(await readLabels(root)).toEqual([])
  expect(readdirSync(root)).toEqual([])
})
