import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeDurably } from './durable-file.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'eyrie-durable-'))
})
afterEach(() => rm(folder, { recursive: true }))

describe('writeDurably', () => {
  it('replaces a file, readable by its owner only, and leaves no temporary file', async () => {
    const file = join(folder, 'a.json')
    await writeDurably(file, 'old and long')
    await writeDurably(file, 'new')
    expect(await readFile(file, 'utf8')).toBe('new')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readdir(folder)).toEqual(['a.json'])
  })

  it('overwrites the temporary file of an interrupted write', async () => {
    const file = join(folder, 'a.json')
    await writeFile(`${file}.new`, 'half of something very much longer')
    await writeDurably(file, 'whole')
    expect(await readFile(file, 'utf8')).toBe('whole')
  })
})
