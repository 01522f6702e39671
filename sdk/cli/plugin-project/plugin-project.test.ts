import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTypedInput, runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import { askQuestions } from './questions.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'eyrie-project-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (...args: string[]) => runEyrieCommand(['plugin', ...args], { data: folder })
const readJson = (...path: string[]) => JSON.parse(readFileSync(join(folder, ...path), 'utf8'))

describe('eyrie plugin create', () => {
  it.each(['objects', 'pictures'])(
    'creates an element that reads %s, whose types and tests are correct',
    async reads => {
      const project = join(folder, `my-${reads}`)
      const created = await run('create', project, '--reads', reads, '--description', 'Tries it out')
      expect(created).toMatchObject({ code: 0, err: '', out: expect.stringContaining(`created ${project}/`) })
      for (const file of ['README.md', '.github/workflows/test.yaml', 'tsconfig.json', '.gitignore'])
        expect(existsSync(join(project, file))).toBe(true)

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
    expect(await run('create', ...args)).toMatchObject({ code: 2, err: expect.stringMatching(reason) })
    expect(existsSync('x')).toBe(false)
  })

  it('asks on a terminal for what no option says', async () => {
    let asked = ''
    const out = { isTTY: true, write: (text: string) => (asked += text) }
    const input = createTypedInput('\npictures\nWatches the light\n')
    const answers = await askQuestions({}, { data: folder, input, out, err: out })
    expect(answers).toEqual({ language: 'typescript', reads: 'pictures', description: 'Watches the light' })
    expect(asked.match(/\?/g)).toHaveLength(3)
    expect(await askQuestions({ reads: 'objects' }, { data: folder, out, err: out })).toMatchObject({
      reads: 'objects',
    })
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
    expect(mistyped).toMatchObject({ code: 1, err: expect.stringMatching(/tests of .*broken have failed/) })
    expect(mistyped.out).toMatch(/element\.ts\(\d+,\d+\): error .*"?croud"?/s)

    writeFileSync(file, code.replace('count > args.limit', 'count >= args.limit'))
    const failed = await run('test', project)
    expect(failed).toMatchObject({ code: 1, out: expect.stringMatching(/element\.test\.ts:\d+/) })
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
