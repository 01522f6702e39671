import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSmallDisk } from '../../../test/fixtures/processes/small-disk.ts'
import { mountRequirement } from '../../../test/fixtures/requirements/mount-namespace.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'

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
