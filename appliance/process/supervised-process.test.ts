import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { createPrinter, createServiceLog } from './service-log.ts'
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'eyrie-process-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function writeProgram(name: string, text: string): string {
  const file = join(folder, `${name}.mjs`)
  writeFileSync(file, text)
  return file
}

function run(file: string): { service: SupervisedProcess; lines: string[] } {
  const lines: string[] = []
  const service = superviseProcess(
    { name: 'service', args: [file], environment: { PATH: process.env.PATH } },
    createServiceLog([createPrinter(line => lines.push(line), false)]),
  )
  return { service, lines }
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const waitForOutput = (lines: string[], text: string) =>
  vi.waitFor(() => expect(lines.join('\n')).toContain(text), 10_000)

/** Starts a child, prints both pids, and ignores SIGTERM. */
const stubborn = `
import { spawn } from 'node:child_process'
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
process.on('SIGTERM', () => console.log('not yet'))
console.log('pids', process.pid, child.pid)
setInterval(() => {}, 1000)
`

it('restarts a process that was killed', async () => {
  const { service, lines } = run(
    writeProgram('steady', "console.log('up', process.pid); setInterval(() => {}, 1000)"),
  )
  await waitForOutput(lines, 'up')
  const first = service.pid as number
  process.kill(first, 'SIGKILL')
  await waitForOutput(lines, 'process exited; restarting signal=SIGKILL delay_s=0.5')
  await vi.waitFor(() => expect(service.pid).not.toBe(first), 10_000)
  expect(service.restarts).toBe(1)
  await service.stop(2_000)
})

it('passes on the messages of a process, and does not log them', async () => {
  const file = writeProgram('sender', "process.send({ secret: 'xyzzy' }); setInterval(() => {}, 1000)")
  const lines: string[] = []
  const messages: unknown[] = []
  const service = superviseProcess(
    { name: 'service', args: [file], environment: { PATH: process.env.PATH } },
    createServiceLog([createPrinter(line => lines.push(line), false)]),
    message => messages.push(message),
  )
  await vi.waitFor(() => expect(messages).toEqual([{ secret: 'xyzzy' }]), 30_000)
  await service.stop(2_000)
  expect(lines.join()).not.toContain('xyzzy')
})

it('retries a process that could not be started', async () => {
  const { execPath } = process
  process.execPath = join(folder, 'no-node')
  const { service, lines } = run(writeProgram('late', "console.log('up'); setInterval(() => {}, 1000)"))
  await waitForOutput(lines, 'process did not start; retrying delay_s=0.5')
  process.execPath = execPath
  await waitForOutput(lines, 'up')
  expect(lines.join('\n')).toContain('failed to start process: spawn')
  await service.stop(2_000)
})

it('doubles the delay when a process exits at once', async () => {
  const { service, lines } = run(writeProgram('broken', "console.log('no database'); process.exit(3)"))
  await waitForOutput(lines, 'process exited; restarting code=3 delay_s=0.5')
  await waitForOutput(lines, 'process exited; restarting code=3 delay_s=1')
  await service.stop(2_000)
})

it('kills a process that ignores SIGTERM, and its children', async () => {
  const { service, lines } = run(writeProgram('stubborn', stubborn))
  await waitForOutput(lines, 'pids')
  const pids =
    lines
      .join(' ')
      .match(/pids (\d+) (\d+)/)
      ?.slice(1)
      .map(Number) ?? []
  expect(pids).toHaveLength(2)
  await service.stop(200)
  await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), 10_000)
})
