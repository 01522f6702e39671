import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, writeFileSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createSmallDisk } from '../../../test/fixtures/processes/small-disk.ts'
import { mountRequirement } from '../../../test/fixtures/requirements/mount-namespace.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

const PROGRAM = resolve(import.meta.dirname, '../main.ts')

describe('the project of a new plugin', needs(mountRequirement), () => {
  it('leaves nothing on a disk that is too small for it', async () => {
    const disk = createSmallDisk('64k')
    onTestFinished(() => disk.remove())
    const script = '"$0" "$1" plugin create "$2/crowd" --language python; echo "$?"; ls -A "$2"'
    const [command, ...launcher] = disk.launcher
    const child = spawn(command!, [
      ...launcher,
      ...['sh', '-c', script, process.execPath, PROGRAM, disk.folder],
    ])
    onTestFinished(() => void child.kill('SIGKILL'))
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)])
    expect({ out, err }).toEqual({ out: '1\n', err: expect.stringContaining('ENOSPC') })
  })
})

/**
 * Creates a folder for PATH with a Python that ends after `end` is called. It prints more than a
 * pipe can hold: until the command has read that, it has also handled every earlier signal.
 */
function createWaitingPython() {
  const bin = createTemporaryFolder()
  const gate = join(bin, 'gate')
  execFileSync('mkfifo', [gate])
  const script = `#!/bin/sh\nread line <'${gate}'; head -c 1000000 /dev/zero\n`
  writeFileSync(join(bin, 'python3'), script, { mode: 0o755 })
  // Opened for both directions, a pipe waits for no reader and keeps what is written.
  const pipe = openSync(gate, 'r+')
  onTestFinished(() => closeSync(pipe))
  return { bin, end: () => void writeSync(pipe, '\n') }
}

describe('eyrie plugin create', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('leaves nothing after %s', async signal => {
    const folder = createTemporaryFolder()
    const python = createWaitingPython()
    const args = [PROGRAM, 'plugin', 'create', 'crowd', '--language', 'python']
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: { ...process.env, PATH: `${python.bin}:${process.env.PATH}` },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const errors = text(child.stderr)
    await vi.waitUntil(() => readdirSync(folder).length > 0, { timeout: 60_000 })
    child.kill(signal)
    const exited = once(child, 'exit')
    python.end()
    expect(await exited).toEqual([1, null])
    expect(await errors).toBe('eyrie: interrupted: crowd was not created\n')
    expect(readdirSync(folder)).toEqual([])
  })
})
