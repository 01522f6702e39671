import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { createPrinter, createServiceLog } from './service-log.ts'

function createRecordedLog(hasColours = false) {
  const lines: string[] = []
  const noon = new Date(2026, 0, 2, 12, 0, 0)
  return {
    lines,
    log: createServiceLog([createPrinter(line => lines.push(line), { hasColours })], () => noon),
  }
}

describe('the service log', () => {
  it('prints a record of a service as one line with its fields at the end', () => {
    const { lines, log } = createRecordedLog()
    const time = new Date(2026, 0, 2, 3, 4, 5).toISOString()
    log.line(
      'media',
      JSON.stringify({
        level: 40,
        time,
        service: 'media',
        source: 3,
        reason: 'refused',
        msg: 'camera lost',
      }),
    )
    expect(lines).toEqual(['03:04:05 media      ! camera lost source=3 reason=refused'])
  })

  it('prints its own messages with their fields', () => {
    const { lines, log } = createRecordedLog()
    log.warn('media', 'process exited', { code: 3 })
    expect(lines).toEqual(['12:00:00 media      ! process exited code=3'])
  })

  it('records the cause of a failure as plain JSON', () => {
    const records: unknown[] = []
    const log = createServiceLog([record => records.push(JSON.parse(JSON.stringify(record)))])
    log.error('media', 'failed to start process', { err: new Error('no space') })
    expect(records).toMatchObject([
      { msg: 'failed to start process', err: { message: 'no space' } },
    ])
  })

  it('prints lines that are not records, such as the last output of a crash', () => {
    const { lines, log } = createRecordedLog()
    log.line('engine', 'Segmentation fault')
    log.line('engine', '   ')
    log.line('engine', '{"level":')
    expect(lines).toEqual([
      '12:00:00 engine       Segmentation fault',
      '12:00:00 engine       {"level":',
    ])
  })

  it('marks errors, and uses colours on a terminal only', () => {
    const plain = createRecordedLog()
    plain.log.error('supervisor', 'port 8080 is already in use')
    expect(plain.lines).toEqual(['12:00:00 supervisor ✗ port 8080 is already in use'])
    const coloured = createRecordedLog(true)
    coloured.log.error('supervisor', 'port 8080 is already in use')
    expect(coloured.lines[0]).toContain('\u001b[31m✗')
  })
})

describe('the log on stdout', () => {
  /** Starts a program that logs at its start, and once more when its stdin ends. */
  function startLoggingProgram(environment: NodeJS.ProcessEnv = {}) {
    const script = `
      import { createServiceLog, createStdoutSink } from '${join(import.meta.dirname, 'service-log.ts')}'
      const log = createServiceLog([createStdoutSink(process.env)])
      log.info('supervisor', 'started')
      process.stdin.resume().on('end', () => log.info('supervisor', 'stopping', { services: 4 }))`
    const env = { PATH: process.env.PATH, ...environment }
    return spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
  }

  it('does not end the program when its reader has ended', async () => {
    const program = startLoggingProgram()
    await once(program.stdout, 'data')
    program.stdout.destroy()
    await once(program.stdout, 'close')
    program.stdin.end()
    expect(await once(program, 'exit')).toEqual([0, null])
  })

  it('consists of JSON lines if EYRIE_LOG_FORMAT is json', async () => {
    const program = startLoggingProgram({ EYRIE_LOG_FORMAT: 'json' })
    program.stdin.end()
    const lines = (await text(program.stdout)).trim().split('\n')
    expect(lines.map(line => JSON.parse(line))).toMatchObject([
      { service: 'supervisor', msg: 'started' },
      { service: 'supervisor', msg: 'stopping', services: 4 },
    ])
  })
})
