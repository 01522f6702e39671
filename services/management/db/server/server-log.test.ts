import { createLog } from '@eyrie/kit'
import { describe, expect, it } from 'vitest'
import { createServerLog } from './server-log.ts'

const READY = 'LOG:  database system is ready to accept connections'

function readLog(...lines: string[]) {
  const log = createServerLog(createLog('management', 'silent'))
  for (const line of lines) log.addLine(line)
  return log
}

describe('log of the database server', () => {
  it.each([
    'PANIC:  could not write to file "pg_wal/xlogtemp.71": No space left on device',
    'FATAL:  could not write lock file "postmaster.pid": No space left on device',
  ])('reports a full disk until the server is ready again: %s', line => {
    expect(readLog(READY, line).isDiskFull()).toBe(true)
    expect(readLog(READY, line, READY).isDiskFull()).toBe(false)
  })

  it.each([
    'FATAL:  the database system is in recovery mode',
    'ERROR:  could not extend file "base/5/1249": No space left on device',
  ])('reports no full disk while the server runs: %s', line => {
    expect(readLog(READY, line).isDiskFull()).toBe(false)
  })
})
