// @module-tag long

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeOwnModel } from '../../../test/fixtures/engine/mean-colour-model.ts'
import { createTypedInput, runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import { askQuestions } from './questions.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-project-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const COLOUR_ELEMENT = `
import { defineElement, definePlugin, getOutput, z } from '@eyrie/element'

/** Reports how red the left half of the picture is. */
const colours = defineElement({
  args: z.strictObject({ model: z.string().default('colour') }),
  events: { red: z.object({ share: z.number() }) },
  async process(_, { args, infer }) {
    const result = await infer(args.model, { region: { x: 0, y: 0, w: 0.5, h: 1 } })
    return { events: [{ type: 'red' as const, share: getOutput(result).data[0]! }] }
  },
})

export default definePlugin({ colours })
`

const COLOUR_TEST = `
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPicture, createRecordedAnswers, createStream, hasRealModels, openElement, runElement } from '@eyrie/element/testing'
import plugin from './element.ts'

const pixels = new Uint8Array(3 * 64 * 36)
for (let at = 0; at < pixels.length; at += 3) pixels[at] = (at / 3) % 64 < 32 ? 255 : 0
const picture = createPicture({ width: 64, height: 36, format: 'RGB' }, pixels)
const withPictures = (count: number) => {
  const stream = createStream(10)
  return Array.from({ length: count }, () => ({ frame: stream.next(), picture }))
}

test('sees the colour', { skip: !hasRealModels() }, async () => {
  const element = await openElement(plugin.colours, { models: 'real' })
  const { events } = await runElement(element, withPictures(5))
  assert.deepEqual(events.map(({ share }) => Math.round(Number(share) * 100)), [100, 100, 100, 100, 100])
  await assert.rejects(runElement(element, [createStream(10).next()]), /the frame has no picture for the models/)
  element.close?.()
})

test('says what is wrong as the engine does', async () => {
  const element = await openElement(plugin.colours, { args: { model: 'faces' }, models: 'real' })
  await assert.rejects(runElement(element, withPictures(1)), /the manifest does not declare the model faces/)
})

test('is answered by the test', async () => {
  const infer = createRecordedAnswers({ colour: [{ outputs: { means: [0.5, 0, 0] } }] })
  const { events } = await runElement(await openElement(plugin.colours, { infer }), [createStream(10).next()])
  assert.equal(events[0]!.share, 0.5)
})
`

const run = (...args: string[]) => runEyrieCommand(['plugin', ...args], { data: folder })
const readJson = (...path: string[]) => JSON.parse(readFileSync(join(folder, ...path), 'utf8'))

describe('eyrie plugin create', () => {
  it.each(['objects', 'pictures'])(
    'creates an element that reads %s, whose types and tests are correct',
    async reads => {
      const project = join(folder, `my-${reads}`)
      const created = await run(
        'create',
        project,
        '--reads',
        reads,
        '--description',
        'Tries it out',
      )
      expect(created).toMatchObject({
        code: 0,
        err: '',
        out: expect.stringContaining(`created ${project}/`),
      })
      for (const file of [
        'README.md',
        '.github/workflows/test.yaml',
        'tsconfig.json',
        '.gitignore',
      ]) {
        expect(existsSync(join(project, file))).toBe(true)
      }

      const [element] = readJson(`my-${reads}/plugin.json`).elements
      expect(element).toMatchObject({
        name: `my-${reads}`,
        description: 'Tries it out',
        params_schema: { type: 'object' },
        config_schema: null,
      })
      const tested = await run('test', project)
      expect(tested).toMatchObject({ code: 0, err: '', out: expect.stringMatching(/pass 1\n/) })
    },
  )

  it('changes no folder that exists', async () => {
    const project = join(folder, 'taken')
    writeFileSync(project, 'mine')
    const refused = await run('create', project)
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(/taken exists already/) })
    expect(readFileSync(project, 'utf8')).toBe('mine')
  })

  it.each([
    [['My_Plugin'], /should be the name of a plugin/],
    [['x', '--language', 'cobol'], /--language cobol should be one of typescript, python/],
    [['x', '--reads', 'sound'], /--reads sound should be one of objects, pictures/],
  ])('rejects %j', async (args, reason) => {
    expect(await run('create', ...args)).toMatchObject({
      code: 2,
      err: expect.stringMatching(reason),
    })
    expect(existsSync('x')).toBe(false)
  })

  it('asks on a terminal for what no option says', async () => {
    let asked = ''
    const out = { isTTY: true, write: (text: string) => (asked += text) }
    const input = createTypedInput('\npictures\nWatches the light\n')
    const answers = await askQuestions({}, { data: folder, input, out, err: out })
    expect(answers).toEqual({
      language: 'typescript',
      reads: 'pictures',
      description: 'Watches the light',
    })
    expect(asked.match(/\?/g)).toHaveLength(3)
    expect(await askQuestions({ reads: 'objects' }, { data: folder, out, err: out })).toMatchObject(
      {
        reads: 'objects',
      },
    )
  })
})

describe('eyrie plugin test', () => {
  it('fails with the file and line of a type error, and of a failed test', async () => {
    const project = join(folder, 'broken')
    await run('create', project)
    const file = join(project, 'element.ts')
    const code = readFileSync(file, 'utf8')
    writeFileSync(file, code.replace(`type: 'crowd', count }`, `type: 'croud', count }`))
    const mistyped = await run('test', project)
    expect(mistyped).toMatchObject({
      code: 1,
      err: expect.stringMatching(/tests of .*broken have failed/),
    })
    expect(mistyped.out).toMatch(/element\.ts\(\d+,\d+\): error .*"?croud"?/s)

    writeFileSync(file, code.replace('count > args.limit', 'count >= args.limit'))
    const failed = await run('test', project)
    expect(failed).toMatchObject({ code: 1, out: expect.stringMatching(/element\.test\.ts:\d+/) })
  })
})

describe('eyrie plugin test of an element with models', () => {
  it('runs the real models where a test asks for them', async () => {
    const project = join(folder, 'colours')
    await run('create', project)
    const model = writeOwnModel(project, 'colour', { width: 8, height: 8 })
    writeFileSync(join(project, 'element.ts'), COLOUR_ELEMENT)
    writeFileSync(join(project, 'element.test.ts'), COLOUR_TEST)
    const manifest = readJson('colours/plugin.json')
    manifest.elements[0].capabilities = { inference: { own: [model], width: 64 }, budget_ms: 5 }
    writeFileSync(join(project, 'plugin.json'), JSON.stringify(manifest))
    expect(await run('generate', project)).toMatchObject({ code: 0 })
    const tested = await run('test', project)
    expect(tested).toMatchObject({ code: 0, out: expect.stringMatching(/pass 3\n/) })
  })
})

describe('eyrie plugin generate', () => {
  it('writes schemas and events into the manifest of a folder anywhere, also without an installed SDK', async () => {
    const project = join(folder, 'bare')
    await run('create', project)
    rmSync(join(project, 'node_modules'), { recursive: true })
    const file = join(project, 'element.ts')
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('count: z.int() }', 'count: z.int(), place: z.string() }'),
    )
    expect(await run('generate', project)).toEqual({
      code: 0,
      out: `wrote ${project}/plugin.json\n`,
      err: '',
    })
    const [element] = readJson('bare/plugin.json').elements
    expect(element.capabilities.events).toEqual({ crowd: { count: 'number', place: 'string' } })
    expect(element.params_schema.properties.limit).toMatchObject({ type: 'integer', default: 10 })
  })

  it('names the file and line of an error in the code', async () => {
    const project = join(folder, 'faulty')
    await run('create', project)
    const file = join(project, 'element.ts')
    writeFileSync(file, `${readFileSync(file, 'utf8')}\nnowhere.length\n`)
    const lines = readFileSync(file, 'utf8').split('\n').indexOf('nowhere.length') + 1
    expect(await run('generate', project)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`faulty: nowhere is not defined (element.ts:${lines}:1)`),
    })
  })

  it('reports a folder without a manifest', async () => {
    expect(await run('generate', join(folder, 'nothing'))).toMatchObject({
      code: 1,
      err: expect.stringMatching(/nothing\/plugin\.json/),
    })
  })
})

describe('eyrie plugin pack', () => {
  it('refuses a manifest without schemas, with the command that writes them', async () => {
    const project = join(folder, 'undescribed')
    await run('create', project)
    const manifest = readJson('undescribed/plugin.json')
    delete manifest.elements[0].params_schema
    writeFileSync(join(project, 'plugin.json'), JSON.stringify(manifest))
    expect(await run('pack', project)).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /element undescribed has no params_schema: .*eyrie plugin generate <folder>/,
      ),
    })
  })
})
