import { execFileSync, spawnSync } from 'node:child_process'
import { statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SERVICE_UNITS } from '../../appliance/supervisor/supervisor.ts'
import { createTemporaryFolder } from '../fixtures/temporary-folder.ts'
import { projectFiles, read, root } from './sources.ts'

const MAX_LINES = 400
const MAX_BYTES = 1 << 20
/** The width of code in `biome.json` and `.clang-format`. Not all formatters wrap comments. */
const MAX_COLUMNS = 100

const files = projectFiles()
const sources = files.filter(
  file => /\.(tsx?|m?js|cc?|h|py|sh)$/.test(file) && !/generated/.test(file),
)

describe('source files', () => {
  it(`have at most ${MAX_LINES} lines, so that each stays one idea`, () => {
    const long = sources.filter(file => read(file).split('\n').length > MAX_LINES)
    expect(long).toEqual([])
  })

  it(`wrap comments at ${MAX_COLUMNS} columns`, () => {
    const commented = [...sources, ...files.filter(file => /\.yaml$|Dockerfile$/.test(file))]
    const long = commented.flatMap(file =>
      findLongComments(read(file)).map(line => `${file}:${line}`),
    )
    expect(long).toEqual([])
  })

  it('are named after what they contain', () => {
    const vague = sources.filter(file =>
      /(^|[-_.])(utils?|helpers?|managers?|misc|common)([-_.]|$)/i.test(basename(file)),
    )
    expect(vague).toEqual([])
  })
})

/** Returns the numbers of lines that are comments and too long although they could be wrapped. */
function findLongComments(source: string): number[] {
  return source.split('\n').flatMap((line, index) => {
    const isLong = line.length > MAX_COLUMNS && /^\s*(\/\/|\/?\*\*?|#) (?!biome-ignore)/.test(line)
    const isWrappable = /\s\S+\s+\S+\s/.test(line.slice(0, MAX_COLUMNS))
    return isLong && isWrappable ? [index + 1] : []
  })
}

describe('files of the repository', () => {
  it('are smaller than a mebibyte, except models', () => {
    const large = files.filter(
      file => statSync(join(root, file)).size > MAX_BYTES && !/^models\/.*\.onnx$/.test(file),
    )
    expect(large).toEqual([])
  })

  it('are not compiled binaries', () => {
    expect(files.filter(file => /\.(node|so|o|a|exe|dll|wasm)$/.test(file))).toEqual([])
  })
})

describe('make', () => {
  it('without a target lists every target', () => {
    const help = execFileSync('make', { cwd: root, encoding: 'utf8' })
    const [, targets = ''] = /^\.PHONY: (.*)$/m.exec(read('Makefile')) ?? []
    const unlisted = targets
      .split(' ')
      .filter(target => !new RegExp(`make ${target}\\b`).test(help))
    expect(unlisted).toEqual(['help', 'setup'])
  })
})

describe('make generate', () => {
  it('refuses a folder outside of the checkout, with the command for it', () => {
    const folder = createTemporaryFolder()
    writeFileSync(join(folder, 'plugin.json'), '{}')
    const { status, stderr } = spawnSync('make', ['generate', folder], {
      cwd: root,
      encoding: 'utf8',
    })
    expect(status).toBe(2)
    expect(stderr).toContain(`run ./eyrie plugin generate ${folder}`)
  })
})

describe('every service', () => {
  it.each(SERVICE_UNITS)('$name starts from a main.ts of at most five lines', ({ main }) => {
    const lines = read(main.slice(root.length + 1))
      .trim()
      .split('\n')
    expect(lines.length).toBeLessThanOrEqual(5)
  })
})
