import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { brightCells } from '../../test/fixtures/detectors.ts'
import { type AddModel, addModel } from './add.ts'
import { isQuarantined, openQuarantine } from './quarantine.ts'
import { readModel } from './read.ts'
import { removeModel } from './remove.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'eyrie-models-'))
})
afterEach(() => rm(root, { recursive: true }))

const bright = (name: string, labels = ['bright']): AddModel => ({
  name,
  labels,
  head: 'yolox',
  license: 'MIT',
  model: brightCells({ width: 64, height: 64 }),
})

describe('adding a model', () => {
  it('writes it and its card', async () => {
    const added = await addModel(root, bright('bright'))
    expect(await readModel(join(root, 'bright'))).toEqual(added)
    expect(await readdir(root)).toEqual(['bright'])
  })

  it('replaces one of the same name', async () => {
    await addModel(root, bright('bright'))
    await addModel(root, bright('bright', ['light']))
    expect((await readModel(join(root, 'bright'))).card.labels).toEqual(['light'])
  })

  it('leaves the old one and nothing else when the new one is no model', async () => {
    await addModel(root, bright('bright'))
    const before = await readFile(join(root, 'bright/model.json'))
    const broken = { ...bright('bright'), model: Buffer.from('no model') }
    await expect(addModel(root, broken)).rejects.toThrow('not an ONNX model')
    expect(await readFile(join(root, 'bright/model.json'))).toEqual(before)
    expect(await readdir(root)).toEqual(['bright'])
  })

  it.each(['', '..', '../up', 'Upper', 'a/b', '.hidden'])('refuses the name %j', async name => {
    await expect(addModel(root, bright(name))).rejects.toThrow('no name for a model')
    await expect(removeModel(root, name)).rejects.toThrow('no name for a model')
  })
})

describe('removing a model', () => {
  it('leaves nothing of it', async () => {
    await addModel(root, bright('bright'))
    await removeModel(root, 'bright')
    expect(await readdir(root)).toEqual([])
  })

  it('works on a broken one', async () => {
    await addModel(root, bright('bright'))
    await writeFile(join(root, 'bright/model.json'), '{')
    await removeModel(root, 'bright')
    expect(await readdir(root)).toEqual([])
  })

  it('says when there is none', async () => {
    await expect(removeModel(root, 'bright')).rejects.toThrow('no model bright was added')
  })
})

describe('a model in quarantine', () => {
  it('is one that has crashed twice, in this process or another', async () => {
    const { card } = await addModel(root, bright('bright'))
    expect(isQuarantined(openQuarantine(root).addCrash(card, 'SIGSEGV on load'))).toBe(false)
    expect(isQuarantined(openQuarantine(root).addCrash(card, 'SIGBUS on run'))).toBe(true)
    expect(openQuarantine(root).recordOf(card.sha256)).toEqual({
      model: 'bright',
      crashes: 2,
      last: 'SIGBUS on run',
    })
  })

  it.each(['add', 'remove'] as const)('comes out of it by %s', async way => {
    const { card } = await addModel(root, bright('bright'))
    const quarantine = openQuarantine(root)
    for (const how of ['SIGSEGV on load', 'SIGSEGV on load']) quarantine.addCrash(card, how)
    await (way === 'add' ? addModel(root, bright('bright')) : removeModel(root, 'bright'))
    expect(quarantine.recordOf(card.sha256)).toBeUndefined()
  })
})
