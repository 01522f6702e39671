import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createBrightCellDetector } from '../../test/fixtures/engine/detector-models.ts'
import { type ModelStore, openModelStore } from './model-store.ts'
import { addModel, removeModel } from './write-models.ts'

const bright = {
  head: 'yolox',
  labels: ['bright'],
  license: 'MIT',
  model: createBrightCellDetector({ width: 64, height: 64 }),
} as const

let root: string
let stores: ModelStore[]
let warnings: { folder?: string; reason?: string }[]

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'eyrie-models-'))
  stores = []
  warnings = []
})
afterEach(async () => {
  for (const store of stores) store.close()
  await rm(root, { recursive: true })
})

const open = async (...roots: string[]) => {
  const log = { info: () => {}, warn: (fields: object) => void warnings.push(fields) }
  const store = await openModelStore({ roots, log, scanIntervalMs: 20 })
  stores.push(store)
  return store
}
const names = (store: ModelStore) => store.list().map(({ card }) => card.name)

describe('the model store', () => {
  it('lists existing models when it is opened', async () => {
    await addModel(root, { name: 'one', ...bright, labels: ['bright'] })
    const store = await open(root)
    expect(names(store)).toEqual(['one'])
    expect(store.get('one')?.file).toBe(join(root, 'one/model.onnx'))
    expect(store.get('two')).toBeUndefined()
  })

  it('detects added, changed and removed models, even in a folder that is created later', async () => {
    const later = join(root, 'later')
    const store = await open(later)
    let changes = 0
    store.onChange(() => changes++)

    await addModel(later, { name: 'one', ...bright, labels: ['bright'] })
    await vi.waitFor(() => expect(names(store)).toEqual(['one']))
    await addModel(later, { name: 'one', ...bright, labels: ['light'] })
    await vi.waitFor(() => expect(store.get('one')?.card.labels).toEqual(['light']))
    await removeModel(later, 'one')
    await vi.waitFor(() => expect(names(store)).toEqual([]))
    expect(changes).toBeGreaterThanOrEqual(3)
  })

  it('prefers the first root', async () => {
    const [own, shipped] = [join(root, 'own'), join(root, 'shipped')]
    await addModel(own, { name: 'one', ...bright, labels: ['mine'] })
    await addModel(shipped, { name: 'one', ...bright, labels: ['theirs'] })
    await addModel(shipped, { name: 'two', ...bright, labels: ['theirs'] })
    const store = await open(own, shipped)
    expect(names(store)).toEqual(['one', 'two'])
    expect(store.get('one')?.card.labels).toEqual(['mine'])
  })

  it('says that a root cannot be read, and has the models of the others', async () => {
    const [file, other] = [join(root, 'file'), join(root, 'other')]
    await writeFile(file, '')
    await addModel(other, { name: 'one', ...bright, labels: ['bright'] })
    const store = await open(file, other)
    expect(names(store)).toEqual(['one'])
    expect(warnings).toContainEqual({
      folder: file,
      reason: expect.stringMatching(/^the folder of models cannot be read: ENOTDIR/),
    })
  })

  it('skips broken models and logs each reason once', async () => {
    await addModel(root, { name: 'whole', ...bright, labels: ['bright'] })
    for (const [name, json] of [
      ['malformed', '{"name":'],
      ['incomplete', '{"name": "incomplete"}'],
    ] as const) {
      await mkdir(join(root, name))
      await writeFile(join(root, name, 'model.json'), json)
    }
    await mkdir(join(root, 'empty'))
    const store = await open(root)
    expect(names(store)).toEqual(['whole'])

    await rm(join(root, 'empty'), { recursive: true })
    await addModel(root, { name: 'another', ...bright, labels: ['bright'] })
    await vi.waitFor(() => expect(names(store)).toEqual(['another', 'whole']))
    expect(warnings.map(({ folder, reason }) => [folder?.slice(root.length + 1), reason])).toEqual([
      ['empty', 'model.json is missing'],
      ['incomplete', 'model.json/task: is required'],
      ['malformed', expect.stringMatching(/^model\.json is not JSON/)],
    ])
  })
})
