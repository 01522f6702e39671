import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { runEyrie } from '../../../test/fixtures/command-line.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'
import { logFiles } from './files.ts'

const record = (service: string, level: number, msg: string, fields = {}) =>
  JSON.stringify({ level, time: new Date(2026, 0, 2, 3, 4, 5).toISOString(), service, msg, ...fields })

/** A data folder with a log in these files, the newest first. */
function written(...files: string[][]): string {
  const data = temporaryFolder()
  mkdirSync(dirname(logFiles(data)[0]))
  for (const [i, lines] of files.entries())
    writeFileSync(logFiles(data)[i]!, lines.map(line => `${line}\n`).join(''))
  return data
}

const logs = (data: string, ...args: string[]) => runEyrie(['logs', ...args], { data })

it('shows what the services have said, the newest last', async () => {
  const data = written(
    [record('media', 40, 'camera lost', { source: 3 }), record('engine', 50, 'model failed')],
    [record('engine', 30, 'listening')],
  )
  expect((await logs(data)).out).toBe(
    '03:04:05 engine       listening\n' +
      '03:04:05 media      ! camera lost source=3\n' +
      '03:04:05 engine     ✗ model failed\n',
  )
})

it('shows so many lines as are asked for, over files', async () => {
  const data = written(
    [record('engine', 30, 'd')],
    [record('engine', 30, 'b'), record('engine', 30, 'c')],
    [record('engine', 30, 'a')],
  )
  expect((await logs(data, '--lines', '2')).out.match(/\w$/gm)).toEqual(['c', 'd'])
  expect((await logs(data, '--lines', '9')).out.match(/\w$/gm)).toEqual(['a', 'b', 'c', 'd'])
})

it('shows those of one service, and those from one level on', async () => {
  const data = written([
    record('media', 30, 'a'),
    record('engine', 30, 'b'),
    record('engine', 40, 'c'),
    record('media', 60, 'd'),
  ])
  expect((await logs(data, '--service', 'engine')).out.match(/\w$/gm)).toEqual(['b', 'c'])
  expect((await logs(data, '--level', 'warn')).out.match(/\w$/gm)).toEqual(['c', 'd'])
})

it('is JSON lines for programs, without what a crash has torn', async () => {
  const whole = record('engine', 30, 'a', { source: 3 })
  const { out } = await logs(written([whole, whole.slice(0, 20)]), '--json')
  expect(JSON.parse(out)).toEqual(JSON.parse(whole))
})

it('says where it has looked where there is none', async () => {
  const data = temporaryFolder()
  expect(await logs(data)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`there is no log at ${data}/log/eyrie.log: set EYRIE_DATA`),
  })
})

it('says why something failed, and that nothing was found', async () => {
  const err = { type: 'Error', message: 'no space left on device', stack: 'Error: no space…' }
  const data = written([
    record('engine', 50, 'the log cannot be written', { err, waiting: 3 }),
    record('media', 60, err.message, { err }),
  ])
  expect((await logs(data)).out).toBe(
    '03:04:05 engine     ✗ the log cannot be written: no space left on device waiting=3\n' +
      '03:04:05 media      ✗ no space left on device\n',
  )
  expect(await logs(data, '--service', 'egnine')).toEqual({
    code: 0,
    out: '',
    err: 'no line of the log is of this service and level\n',
  })
})
