import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import product from '../../package.json' with { type: 'json' }
import { createBrightCellDetector } from '../../test/fixtures/engine/detector-models.ts'
import { runEyrieCommand } from '../../test/fixtures/processes/command-line.ts'

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eyrie-cli-'))
  file = join(folder, 'bright.onnx')
  await writeFile(file, createBrightCellDetector({ width: 64, height: 64 }))
  await writeFile(join(folder, 'labels.txt'), 'bright\n')
})
afterEach(() => rm(folder, { recursive: true }))

/** Runs a command line in which $FILE and $LABELS stand for the paths of the fixtures. */
function run(line: string) {
  const args = line
    .split(' ')
    .filter(Boolean)
    .map(word => word.replace('$FILE', file).replace('$LABELS', join(folder, 'labels.txt')))
  return runEyrieCommand(args, { data: folder })
}

const add = 'model add bright --file $FILE --head yolox --labels $LABELS --license MIT'

describe('eyrie model', () => {
  it('adds, lists and removes a model', async () => {
    expect(await run(add)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^added bright: 1 classes at 64x64/),
    })
    const listed = await run('model list')
    expect(listed.out).toMatch(/^bright +yolox +1 +64x64 or any +MIT +added +ready$/m)
    expect(await run('model remove bright')).toMatchObject({ code: 0, out: 'removed bright\n' })
    expect((await run('model list')).out).not.toMatch(/^bright /m)
  })

  it('prints the list as JSON', async () => {
    await run(add)
    const { models } = JSON.parse((await run('model list --json')).out)
    expect(models).toContainEqual({
      name: 'bright',
      head: 'yolox',
      classes: 1,
      input: '64x64 or any',
      license: 'MIT',
      origin: 'added',
      quarantine: null,
    })
  })

  it('writes the options to the card', async () => {
    await run(`${add} --color bgr --mean 1,2,3 --std 2 --scale 1/2 --source https://example.org`)
    const cardOf = async () =>
      JSON.parse(await readFile(join(folder, 'models/bright/model.json'), 'utf8'))
    const card = await cardOf()
    const input = { color: 'bgr', scale: 0.5, mean: [1, 2, 3], std: [2] }
    expect(card).toMatchObject({ license: 'MIT', source: 'https://example.org', input })
    await run(add)
    expect(await cardOf()).toMatchObject({ source: file })
  })

  it('exits with 1 and the reason if the file or the name is invalid', async () => {
    await writeFile(file, 'not a model')
    expect(await run(add)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/bright\.onnx cannot be added: it is not/),
    })
    await rm(file)
    expect(await run(add)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/bright\.onnx does not exist/),
    })
    expect(await run('model remove other')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/there is no model other/),
    })
  })

  const invalid: [line: string, reason: RegExp][] = [
    ['model add', /the name is missing/],
    ['model add a b', /unexpected argument b/],
    ['model add unknown', /not a published model \(yolox-nano, yolox-tiny\)/],
    ['model add yolox-nano --head yolox', /--head requires --file/],
    ['model add bright --file $FILE --head yolox', /--labels is missing/],
    [`${add} --head yolov5`, /one of yolox, decoded, nms/],
    [`${add} --mean 1,2`, /--mean 1,2 should be one number or three/],
    [`${add} --std 0`, /none 0/],
    [`${add} --size big`, /width x height/],
    [`${add} --colour bgr`, /'--colour'/],
    ['model list all', /unexpected argument all/],
    ['model rename', /unknown command model rename: eyrie model --help lists all commands/],
    ['model', /unknown command model: eyrie model --help lists all commands/],
    ['modl list', /unknown command modl list: eyrie --help lists all commands/],
  ]
  it.each(invalid)('exits with 2 for "%s"', async (line, reason) => {
    expect(await run(line)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(reason) })
  })

  it('prints the help', async () => {
    expect(await run('--help')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/eyrie model add <name>/),
    })
    expect(await run('')).toMatchObject({ code: 2, out: expect.stringMatching(/eyrie model list/) })
  })

  const listCommands = async (line: string) =>
    (await run(line)).out.match(/(?<=^ {2}eyrie )[a-z]+( [a-z]+)?/gm)

  it.each([
    ['model list --help', ['model list']],
    ['jobs --help', ['jobs', 'jobs run']],
    ['camera --help', ['camera test', 'camera discover']],
  ])('prints the help for the commands that "%s" names', async (line, names) => {
    expect(await listCommands(line)).toEqual(names)
  })

  it('prints the complete help for an unknown command', async () => {
    expect(await run('modl --help')).toEqual(await run('--help'))
  })

  it('prints the version', async () => {
    expect((await run('--help')).out).toMatch(/^ {2}eyrie --version$/m)
    expect(await run('--version')).toEqual({ code: 0, out: `eyrie ${product.version}\n`, err: '' })
  })
})
