import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createLogFile } from '../../../appliance/supervisor/log-file.ts'
import { runEyrie } from '../../../test/fixtures/command-line.ts'
import { temporaryFolder } from '../../../test/fixtures/temporary.ts'
import { eyrie } from '../eyrie.ts'
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

describe('a log that is followed', { timeout: 60_000 }, () => {
  const PATIENCE = { timeout: 20_000, interval: 50 }
  /** Room for three records. */
  const FILE_BYTES = 3 * (record('media', 30, 'n10').length + 1)
  const numbers = (text: string) => Array.from(text.matchAll(/n(\d+)$/gm), ([, n]) => Number(n))
  const from = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i)

  /** The command, on a log that is written as the supervisor writes it. */
  function following(data: string, ...args: string[]) {
    const log = createLogFile(data, FILE_BYTES)
    const shown = { out: '', err: '' }
    const interruption = new AbortController()
    const write = (n: number, service = 'media', level = 30) =>
      log(JSON.parse(record(service, level, `n${n}`)))
    const start = () => {
      const code = eyrie(['logs', '--follow', ...args], {
        data,
        out: { write: text => (shown.out += text) },
        err: { write: text => (shown.err += text) },
        interrupted: () => interruption.signal,
      })
      onTestFinished(async () => {
        interruption.abort()
        await code
      })
      return code
    }
    return { write, start, shown, interrupt: () => interruption.abort() }
  }

  it('goes on over all its files, with every line once and in order, until Ctrl-C', async () => {
    const { write, start, shown, interrupt } = following(temporaryFolder(), '--lines', '4')
    for (const n of from(10, 5)) write(n)
    const code = start()
    await vi.waitUntil(() => numbers(shown.out).includes(14), PATIENCE)
    for (let first = 15; first < 75; first += 10) {
      // Up to four files further at once: none of those that are kept is passed over.
      for (const n of from(first, 10)) write(n)
      await vi.waitUntil(() => numbers(shown.out).includes(first + 9), PATIENCE)
    }
    expect(numbers(shown.out)).toEqual(from(11, 64))
    interrupt()
    expect(await code).toBe(0)
    expect(shown.err).toBe('')
  })

  it('shows of what comes only what is asked for', async () => {
    const { write, start, shown } = following(temporaryFolder(), '--service', 'engine', '--level', 'warn')
    write(10, 'engine', 30)
    void start()
    for (const [n, service, level] of [
      [11, 'engine', 30],
      [12, 'media', 50],
      [13, 'engine', 40],
    ] as const)
      write(n, service, level)
    await vi.waitUntil(() => numbers(shown.out).includes(13), PATIENCE)
    expect(numbers(shown.out)).toEqual([13])
  })

  it('ends the program on Ctrl-C as something that went well', async () => {
    const data = written([record('engine', 30, 'n10')])
    const program = spawn(
      process.execPath,
      [resolve(import.meta.dirname, '../main.ts'), 'logs', '--follow', '--json'],
      { env: { PATH: process.env.PATH, EYRIE_DATA: data }, stdio: ['ignore', 'pipe', 'inherit'] },
    )
    onTestFinished(() => void program.kill('SIGKILL'))
    let out = ''
    program.stdout.on('data', chunk => {
      out += chunk
    })
    await vi.waitUntil(() => out.includes('n10'), PATIENCE)
    writeFileSync(logFiles(data)[0], `${record('media', 30, 'n11')}\n`, { flag: 'a' })
    await vi.waitUntil(() => out.includes('n11'), PATIENCE)
    program.kill('SIGINT')
    expect(await once(program, 'exit')).toEqual([0, null])
  })
})
