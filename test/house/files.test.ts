import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { serviceUnits } from '../../appliance/supervisor/supervisor.ts'
import { projectFiles, read, root } from './sources.ts'

const files = projectFiles()
const source = files.filter(file => /\.(ts|tsx|cc|h|py|sh)$/.test(file) && !/generated/.test(file))

describe('the files of the project', () => {
  it('are one idea each: none has more than 300 lines', () => {
    const long = source.filter(file => read(file).split('\n').length > 300)
    expect(long).toEqual([])
  })

  it('are named after what they are', () => {
    const vague = source.filter(file =>
      /(^|[-_.])(utils?|helpers?|managers?|misc|common)([-_.]|$)/i.test(basename(file)),
    )
    expect(vague).toEqual([])
  })

  it('hold nothing large but the detector', () => {
    const large = files.filter(
      file => statSync(join(root, file)).size > 1 << 20 && !/^models\/.*\.onnx$/.test(file),
    )
    expect(large).toEqual([])
  })

  it('hold no machine code', () => {
    expect(files.filter(file => /\.(node|so|o|a|exe|dll|wasm)$/.test(file))).toEqual([])
  })
})

it('make alone tells what else it can do', () => {
  const told = execFileSync('make', { cwd: root, encoding: 'utf8' })
  const [, targets = ''] = /^\.PHONY: (.*)$/m.exec(read('Makefile')) ?? []
  const untold = targets.split(' ').filter(target => !new RegExp(`make ${target}\\b`).test(told))
  expect(untold).toEqual(['help', 'setup'])
})

describe('every service', () => {
  it.each(serviceUnits)('$name starts from a main.ts of a few lines', ({ main }) => {
    expect(
      read(main.slice(root.length + 1))
        .trim()
        .split('\n').length,
    ).toBeLessThanOrEqual(5)
  })
})
