import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { readJsonFile, writeJsonFile } from './json-file.ts'

const schema = z.strictObject({ reserved: z.int() })

describe('readJsonFile', () => {
  it('returns the content', () => {
    const path = join(createTemporaryFolder(), 'sequence.json')
    writeFileSync(path, '{"reserved": 7}')
    expect(readJsonFile(path, schema)).toEqual({ reserved: 7 })
  })

  it('returns undefined if the file or its folder does not exist', () => {
    const folder = createTemporaryFolder()
    expect(readJsonFile(join(folder, 'sequence.json'), schema)).toBeUndefined()
    expect(readJsonFile(join(folder, 'output', 'sequence.json'), schema)).toBeUndefined()
  })

  it.each([
    ['', 'Unexpected end of JSON input'],
    ['{"reserved": ', 'Unexpected end of JSON input'],
    ['{"reserved": "7"}', '/reserved: Invalid input: expected number, received string'],
    ['{"reserved": 7, "log": 1}', '/log: unknown field'],
  ])('throws if the file contains %j', (content, message) => {
    const path = join(createTemporaryFolder(), 'sequence.json')
    writeFileSync(path, content)
    expect(() => readJsonFile(path, schema)).toThrow(message)
  })

  it('throws if the file cannot be read', () => {
    const path = join(createTemporaryFolder(), 'sequence.json')
    mkdirSync(path)
    expect(() => readJsonFile(path, schema)).toThrow('EISDIR')
  })
})

describe('writeJsonFile', () => {
  it('replaces a file, readable by its owner only, and leaves no temporary file', () => {
    const folder = createTemporaryFolder()
    const path = join(folder, 'sequence.json')
    writeJsonFile(path, { reserved: 1_000_000 })
    writeFileSync(`${path}.new`, 'half of a longer file', { mode: 0o600 })
    writeJsonFile(path, { reserved: 7 })
    expect(readJsonFile(path, schema)).toEqual({ reserved: 7 })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['sequence.json'])
  })

  it('leaves the file as it is, and nothing else, if the disk is full', () => {
    const folder = createTemporaryFolder()
    const path = join(folder, 'sequence.json')
    writeJsonFile(path, { reserved: 7 })
    symlinkSync('/dev/full', `${path}.new`)
    expect(() => writeJsonFile(path, { reserved: 8 })).toThrow('ENOSPC')
    expect(readJsonFile(path, schema)).toEqual({ reserved: 7 })
    expect(readdirSync(folder)).toEqual(['sequence.json'])
  })
})
