import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
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

describe('eyrie plugin create', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('leaves nothing after %s', async signal => {
    const folder = createTemporaryFolder()
    const args = [PROGRAM, 'plugin', 'create', 'crowd', '--language', 'python']
    const child = spawn(process.execPath, args, {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const errors = text(child.stderr)
    await vi.waitUntil(() => readdirSync(folder).length > 0, { timeout: 60_000 })
    child.kill(signal)
    expect(await once(child, 'exit')).toEqual([1, null])
    expect(await errors).toBe('eyrie: interrupted: crowd was not created\n')
    expect(readdirSync(folder)).toEqual([])
  })
})
