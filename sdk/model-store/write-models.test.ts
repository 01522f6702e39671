import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createBrightCellDetector } from '../../test/fixtures/engine/detector-models.ts'
import { isQuarantined, openQuarantine } from './quarantine.ts'
import { readModel } from './read-models.ts'
import { addModel, type NewModel, removeModel } from './write-models.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'eyrie-models-'))
})
afterEach(() => rm(root, { recursive: true }))

const bright = (name: string, labels = ['bright']): NewModel => ({
  name,
  labels,
  head: 'yolox',
  license: 'MIT',
  model: createBrightCellDetector({ width: 64, height: 64 }),
})

describe('addModel', () => {
  it('writes the model and its card', async () => {
    const added = await addModel(root, bright('bright'))
    expect(await readModel(join(root, 'bright'))).toEqual(added)
    expect(await readdir(root)).toEqual(['bright'])
  })

  it('replaces a model with the same name', async () => {
    await addModel(root, bright('bright'))
    await addModel(root, bright('bright', ['light']))
    expect((await readModel(join(root, 'bright'))).card.labels).toEqual(['light'])
  })

  it('writes one of two models that are added under the same name at the same time', async () => {
    await addModel(root, bright('bright'))
    const models = [64, 96].map(size => ({
      ...bright('bright', [`size ${size}`]),
      model: createBrightCellDetector({ width: size, height: size }),
    }))
    const added = await Promise.all(models.map(model => addModel(root, model)))
    const { card, file } = await readModel(join(root, 'bright'))
    expect(added.map(each => each.card)).toContainEqual(card)
    const hash = createHash('sha256').update(await readFile(file))
    expect(hash.digest('hex')).toBe(card.sha256)
    expect(await readdir(root)).toEqual(['bright'])
  })

  it('leaves the existing model unchanged if the new one is invalid', async () => {
    await addModel(root, bright('bright'))
    const before = await readFile(join(root, 'bright/model.json'))
    const broken = { ...bright('bright'), model: Buffer.from('not a model') }
    await expect(addModel(root, broken)).rejects.toThrow('not an ONNX model')
    expect(await readFile(join(root, 'bright/model.json'))).toEqual(before)
    expect(await readdir(root)).toEqual(['bright'])
  })

  it.each(['', '..', '../up', 'Upper', 'a/b', '.hidden'])('rejects the name %j', async name => {
    await expect(addModel(root, bright(name))).rejects.toThrow('is not a valid model name')
    await expect(removeModel(root, name)).rejects.toThrow('is not a valid model name')
  })
})

describe('removeModel', () => {
  it('deletes the folder of the model', async () => {
    await addModel(root, bright('bright'))
    await removeModel(root, 'bright')
    expect(await readdir(root)).toEqual([])
  })

  it('removes a broken model', async () => {
    await addModel(root, bright('bright'))
    await writeFile(join(root, 'bright/model.json'), '{')
    await removeModel(root, 'bright')
    expect(await readdir(root)).toEqual([])
  })

  it('rejects an unknown model', async () => {
    await expect(removeModel(root, 'bright')).rejects.toThrow('there is no model bright')
  })
})

describe('quarantine', () => {
  it('counts crashes across processes and begins with the second one', async () => {
    const { card } = await addModel(root, bright('bright'))
    expect(isQuarantined(openQuarantine(root).addCrash(card, 'SIGSEGV on load'))).toBe(false)
    expect(isQuarantined(openQuarantine(root).addCrash(card, 'SIGBUS on run'))).toBe(true)
    expect(openQuarantine(root).findCrashes(card.sha256)).toEqual({
      model: 'bright',
      crashes: 2,
      last: 'SIGBUS on run',
    })
  })

  it('begins even if the disk is full', async () => {
    const { card } = await addModel(root, bright('bright'))
    await mkdir(join(root, '.quarantine'))
    await symlink('/dev/full', join(root, `.quarantine/${card.sha256}.json.new`))
    const quarantine = openQuarantine(root)
    for (const how of ['SIGSEGV on load', 'SIGSEGV on load']) quarantine.addCrash(card, how)
    expect(quarantine.findCrashes(card.sha256)).toMatchObject({ crashes: 2 })
    quarantine.clear(card.sha256)
    expect(quarantine.findCrashes(card.sha256)).toBeUndefined()
  })

  it.each(['add', 'remove'] as const)('ends when the model is passed to %s', async operation => {
    const { card } = await addModel(root, bright('bright'))
    const quarantine = openQuarantine(root)
    for (const how of ['SIGSEGV on load', 'SIGSEGV on load']) quarantine.addCrash(card, how)
    await (operation === 'add' ? addModel(root, bright('bright')) : removeModel(root, 'bright'))
    expect(quarantine.findCrashes(card.sha256)).toBeUndefined()
  })
})
