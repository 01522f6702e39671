import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runOnSmallDisk } from '../../../test/fixtures/processes/small-disk.ts'
import { mountRequirement } from '../../../test/fixtures/requirements/mount-namespace.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'

const fixture = join(import.meta.dirname, 'full-disk.fixture.ts')

test(
  'output removes the oldest messages on a full disk, reports it, and continues',
  needs(mountRequirement),
  async () => {
    const printed = await runOnSmallDisk('400k', [fixture], 60_000)
    const { sent, status, sizes } = JSON.parse(printed)
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
