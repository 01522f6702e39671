import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { chooseRingPath } from './ring-path.ts'

describe('chooseRingPath', () => {
  it('chooses another path for every start, and records it only for its owner', () => {
    const data = createTemporaryFolder()
    const paths = Array.from({ length: 3 }, () => chooseRingPath(data))
    expect(new Set(paths).size).toBe(3)
    for (const path of paths) expect(path).toMatch(/^\/dev\/shm\/eyrie-[0-9a-f]{32}$/)
    const record = join(data, 'ring-path')
    expect(readFileSync(record, 'utf8')).toBe(`${data}\n${paths[2]}\n`)
    expect(statSync(record).mode & 0o777).toBe(0o600)
  })

  it('removes the frames of a run that was killed', () => {
    const data = createTemporaryFolder()
    const previous = chooseRingPath(data)
    onTestFinished(() => rmSync(previous, { recursive: true, force: true }))
    mkdirSync(previous, { mode: 0o700 })
    writeFileSync(join(previous, 'source-1-1.ring'), '')
    chooseRingPath(data)
    expect(existsSync(previous)).toBe(false)
  })

  it('keeps the frames of the running original of a copied data folder', () => {
    const original = createTemporaryFolder()
    const copy = createTemporaryFolder()
    const running = chooseRingPath(original)
    onTestFinished(() => rmSync(running, { recursive: true, force: true }))
    mkdirSync(running, { mode: 0o700 })
    copyFileSync(join(original, 'ring-path'), join(copy, 'ring-path'))
    chooseRingPath(copy)
    expect(existsSync(running)).toBe(true)
  })

  it('removes neither the target of a link nor any other path that a record contains', () => {
    const data = createTemporaryFolder()
    const other = createTemporaryFolder()
    const link = chooseRingPath(data)
    onTestFinished(() => rmSync(link, { force: true }))
    symlinkSync(other, link)
    chooseRingPath(data)
    expect(existsSync(other)).toBe(true)

    for (const path of [other, `${link}/../../..${other}`]) {
      writeFileSync(join(data, 'ring-path'), `${data}\n${path}\n`)
      chooseRingPath(data)
      expect(existsSync(other)).toBe(true)
    }
  })
})
