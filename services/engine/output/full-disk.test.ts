import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { mountRequirement } from '../../../test/fixtures/requirements/mount-namespace.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'
import { createTemporaryFolder } from '../../../test/fixtures/temporary-folder.ts'

const fixture = join(import.meta.dirname, 'full-disk.fixture.ts')

test(
  'output removes the oldest messages on a full disk, reports it, and continues',
  needs(mountRequirement),
  async () => {
    const folder = createTemporaryFolder()
    const small = `mount -t tmpfs -o size=400k tmpfs ${folder} && exec ${process.execPath} ${fixture} ${folder}`
    const { stdout } = await promisify(execFile)(
      'unshare',
      ['--map-root-user', '--mount', 'sh', '-c', small],
      {
        maxBuffer: 16 << 20,
        timeout: 60_000,
      },
    )
    const { sent, status, sizes } = JSON.parse(stdout)
    const events = sent.filter((type: string) => type.startsWith('event'))
    expect(events).toEqual(Array.from({ length: 5000 }, (_, index) => `event ${index + 1}`))
    expect(sent).toContain('overrun')
    expect(status.storing).toBe(true)
    // Each segment has its full size from the start, so appending never fails on a full disk.
    expect(new Set(sizes)).toEqual(new Set([64 << 10]))
    expect(status.alarms).toEqual([
      expect.stringContaining('removed before archive acknowledged them'),
    ])
  },
)
