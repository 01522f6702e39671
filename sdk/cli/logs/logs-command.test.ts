import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createLogFile } from '../../../appliance/process/log-file.ts'
import { runEyrieCommand } from '../../../test/fixtures/processes/command-line.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'
import { runCommandLine } from '../command-line.ts'
import { getLogFiles } from './log-files.ts'

const record = (service: string, level: number, msg: string, fields = {}) =>
  JSON.stringify({
    level,
    time: new Date(2026, 0, 2, 3, 4, 5).toISOString(),
    service,
    msg,
    ...fields,
  })

/** Writes a data folder with these log files, the current one first. */
function writeLog(...files: string[][]): string {
  const data = createTemporaryFolder()
  mkdirSync(dirname(getLogFiles(data)[0]))
  for (const [i, lines] of files.entries()) {
    writeFileSync(getLogFiles(data)[i]!, lines.map(line => `${line}\n`).join(''))
  }
  return data
}

const logs = (data: string, ...args: string[]) => runEyrieCommand(['logs', ...args], { data })

describe('eyrie logs', () => {
  it('prints the records of all services in chronological order', async () => {
    const data = writeLog(
      [record('media', 40, 'camera lost', { source: 3 }), record('engine', 50, 'model failed')],
      [record('engine', 30, 'listening')],
    )
    expect((await logs(data)).out).toBe(
      '03:04:05 engine       listening\n' +
        '03:04:05 media      ! camera lost source=3\n' +
        '03:04:05 engine     ✗ model failed\n',
    )
  })

  it('prints the requested number of lines across files', async () => {
    const data = writeLog(
      [record('engine', 30, 'd')],
      [record('engine', 30, 'b'), record('engine', 30, 'c')],
      [record('engine', 30, 'a')],
    )
    expect((await logs(data, '--lines', '2')).out.match(/\w$/gm)).toEqual(['c', 'd'])
    expect((await logs(data, '--lines', '9')).out.match(/\w$/gm)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('filters by service and minimum level', async () => {
    const data = writeLog([
      record('media', 30, 'a'),
      record('engine', 30, 'b'),
      record('engine', 40, 'c'),
      record('media', 60, 'd'),
    ])
    expect((await logs(data, '--service', 'engine')).out.match(/\w$/gm)).toEqual(['b', 'c'])
    expect((await logs(data, '--level', 'warn')).out.match(/\w$/gm)).toEqual(['c', 'd'])
  })

  it('prints JSON lines and skips incomplete ones', async () => {
    const whole = record('engine', 30, 'a', { source: 3 })
    const { out } = await logs(writeLog([whole, whole.slice(0, 20)]), '--json')
    expect(JSON.parse(out)).toEqual(JSON.parse(whole))
  })

  it('shows control characters of messages and fields as escapes', async () => {
    const clearScreen = '\u001b[2J\u009bH'
    const data = writeLog([record('engine', 40, `a\n${clearScreen}b`, { element: clearScreen })])
    const escaped = '\\u001b[2J\\u009bH'
    expect((await logs(data)).out).toBe(
      `03:04:05 engine     ! a\\n${escaped}b element=${escaped}\n`,
    )
    const { out } = await logs(data, '--json')
    expect(out).not.toContain('\u009b')
    expect(JSON.parse(out)).toMatchObject({ element: clearScreen })
  })

  it('prints the rotated files while there is no current one', async () => {
    const data = writeLog([record('engine', 30, 'b')], [record('engine', 30, 'a')])
    renameSync(getLogFiles(data)[1]!, getLogFiles(data)[2]!)
    renameSync(getLogFiles(data)[0], getLogFiles(data)[1]!)
    expect((await logs(data)).out.match(/\w$/gm)).toEqual(['a', 'b'])
  })

  it('names the path of a missing log', async () => {
    const data = createTemporaryFolder()
    expect(await logs(data)).toMatchObject({
      code: 1,
      err: expect.stringContaining(`there is no log at ${data}/log/eyrie.log: set EYRIE_DATA`),
    })
  })

  it('prints the cause of an error, and a notice if no entry matches', async () => {
    const err = { type: 'Error', message: 'no space left on device', stack: 'Error: no space…' }
    const data = writeLog([
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
      err: 'no log entries match this service and level\n',
    })
  })
})

describe('eyrie logs --follow', { timeout: 180_000 }, () => {
  const WAIT = { timeout: 60_000, interval: 50 }
  /** The size of three records. */
  const FILE_BYTES = 3 * (record('media', 30, 'n10').length + 1)
  const numbers = (text: string) => Array.from(text.matchAll(/n(\d+)$/gm), ([, n]) => Number(n))
  const from = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i)

  /** Follows a log that the log file of the supervisor writes. */
  function prepareFollow(data: string, ...args: string[]) {
    const log = createLogFile(data, FILE_BYTES)
    const printed = { out: '', err: '' }
    /** The texts that were written, and when the reader had received them. */
    const steps: string[] = []
    const interruption = new AbortController()
    const write = (n: number, service = 'media', level = 30) =>
      log(JSON.parse(record(service, level, `n${n}`)))
    const start = () => {
      const code = runCommandLine(['logs', '--follow', ...args], {
        data,
        out: {
          write(text) {
            printed.out += text
            steps.push(text)
          },
          async drain() {
            steps.push('drained')
          },
        },
        err: { write: text => (printed.err += text) },
        captureInterrupt: () => interruption.signal,
      })
      onTestFinished(async () => {
        interruption.abort()
        await code
      })
      return code
    }
    return { write, start, printed, steps, interrupt: () => interruption.abort() }
  }

  it('prints every line once and in order across rotations, until Ctrl-C', async () => {
    const { write, start, printed, interrupt } = prepareFollow(
      createTemporaryFolder(),
      '--lines',
      '4',
    )
    for (const n of from(10, 5)) write(n)
    const code = start()
    await vi.waitUntil(() => numbers(printed.out).includes(14), WAIT)
    for (let first = 15; first < 75; first += 10) {
      // Up to four rotations between two reads: no file that still exists is skipped.
      for (const n of from(first, 10)) write(n)
      await vi.waitUntil(() => numbers(printed.out).includes(first + 9), WAIT)
    }
    expect(numbers(printed.out)).toEqual(from(11, 64))
    interrupt()
    expect(await code).toBe(0)
    expect(printed.err).toBe('')
  })

  it('prints lines that are written while it starts once', async () => {
    const { write, start, printed } = prepareFollow(createTemporaryFolder())
    write(10)
    void start()
    for (const n of from(11, 3)) {
      write(n)
      await setImmediate()
    }
    await vi.waitUntil(() => numbers(printed.out).includes(13), WAIT)
    expect(numbers(printed.out)).toEqual(from(10, 4))
  })

  it('filters new records by service and level', async () => {
    const { write, start, printed } = prepareFollow(
      createTemporaryFolder(),
      '--service',
      'engine',
      '--level',
      'warn',
    )
    write(10, 'engine', 30)
    void start()
    for (const [n, service, level] of [
      [11, 'engine', 30],
      [12, 'media', 50],
      [13, 'engine', 40],
    ] as const) {
      write(n, service, level)
    }
    await vi.waitUntil(() => numbers(printed.out).includes(13), WAIT)
    expect(numbers(printed.out)).toEqual([13])
  })

  it('reads new lines once the reader of its output has received the previous ones', async () => {
    const { write, start, steps } = prepareFollow(createTemporaryFolder())
    write(10)
    void start()
    await vi.waitUntil(() => steps.length > 0, WAIT)
    write(11)
    await vi.waitUntil(() => steps.some(step => step.endsWith('n11\n')), WAIT)
    expect(steps.slice(0, 2)).toEqual([expect.stringContaining('n10'), 'drained'])
  })

  it('exits with 0 on Ctrl-C', async () => {
    const data = writeLog([record('engine', 30, 'n10')])
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
    await vi.waitUntil(() => out.includes('n10'), WAIT)
    writeFileSync(getLogFiles(data)[0], `${record('media', 30, 'n11')}\n`, { flag: 'a' })
    await vi.waitUntil(() => out.includes('n11'), WAIT)
    program.kill('SIGINT')
    expect(await once(program, 'exit')).toEqual([0, null])
  })
})
