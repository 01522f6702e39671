import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { claim } from './lock.ts'

const data = mkdtempSync(join(tmpdir(), 'eyrie-lock-'))
afterEach(() => rmSync(data, { recursive: true, force: true }))

it('refuses a data folder that a living supervisor holds', async () => {
  const other = spawn(process.execPath, ['-e', 'process.stdin.resume()', 'supervisor'], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  await once(other, 'spawn')
  try {
    claim(data)
    writeFileSync(join(data, 'supervisor.pid'), String(other.pid))
    expect(() => claim(data)).toThrow(`already running on ${data} (process ${other.pid})`)
  } finally {
    other.kill('SIGKILL')
    await once(other, 'exit')
  }
})

it('takes over from a supervisor that was killed', () => {
  claim(data)
  writeFileSync(join(data, 'supervisor.pid'), '999999999')
  const release = claim(data)
  release()
  expect(() => claim(data)).not.toThrow()
})
