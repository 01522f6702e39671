import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { getLogFiles } from '@eyrie/cli/logs/log-files'
import { expect, it } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { createLogFile } from './log-file.ts'

const record = (msg: string) => ({
  level: 30,
  time: '2026-01-02T03:04:05.000Z',
  service: 'engine',
  msg,
})
const messages = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line).msg)

it('appends JSON lines that only their owner can read', () => {
  const data = createTemporaryFolder()
  createLogFile(data)({ ...record('first'), source: 3 })
  createLogFile(data)(record('second'))
  const [file] = getLogFiles(data)
  expect(JSON.parse(readFileSync(file, 'utf8').split('\n')[0]!)).toEqual({
    ...record('first'),
    source: 3,
  })
  expect(messages(file)).toEqual(['first', 'second'])
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

it('rotates a full file and deletes the oldest', () => {
  const data = createTemporaryFolder()
  const bytes = 3 * (JSON.stringify(record('10')).length + 1)
  const log = createLogFile(data, bytes)
  for (let n = 10; n < 40; n++) log(record(String(n)))
  const files = getLogFiles(data)
  expect(files.flatMap(file => messages(file).reverse())).toEqual(
    Array.from({ length: 3 * files.length }, (_, i) => String(39 - i)),
  )
  for (const file of files) expect(statSync(file).size).toBeLessThanOrEqual(bytes)
  expect(existsSync(`${files[0]}.${files.length}`)).toBe(false)
})

it('ignores write errors', () => {
  const data = createTemporaryFolder()
  writeFileSync(join(data, 'log'), 'a file where the folder should be')
  expect(() => createLogFile(data)(record('lost'))).not.toThrow()
})
