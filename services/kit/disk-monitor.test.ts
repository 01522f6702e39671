import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTemporaryFolder } from '../../test/fixtures/temporary-folder.ts'
import { monitorDisk } from './disk-monitor.ts'
import { createLog } from './log.ts'

const log = createLog('kit', 'silent')

/** Monitors the disk of the temporary folder, which must have this many bytes free. */
function monitor(folder: string, minFreeBytes: number) {
  const disk = monitorDisk(folder, log, minFreeBytes)
  onTestFinished(disk.stop)
  return disk
}

describe('disk monitor', () => {
  it('raises an alarm with the free space and the remedy while less than the minimum is free', async () => {
    const folder = createTemporaryFolder()
    const disk = monitor(folder, Number.MAX_SAFE_INTEGER)
    await vi.waitFor(() => expect(disk.alarms()).toHaveLength(1))
    expect(disk.alarms()[0]).toMatch(
      /^soon nothing can be stored, because only \d+\.\d [MG]B are left on the disk of .*: delete files that are not needed, or enlarge the disk$/,
    )
    expect(disk.alarms()[0]).toContain(folder)
  })

  it('raises no alarm while there is enough space, nor for a folder that does not exist', async () => {
    const folder = createTemporaryFolder()
    const reached = monitor(folder, Number.MAX_SAFE_INTEGER)
    const disks = [monitor(folder, 1), monitor(`${folder}/missing`, Number.MAX_SAFE_INTEGER)]
    // The first monitor shows that there was time for a measurement.
    await vi.waitUntil(() => reached.alarms().length > 0)
    expect(disks.flatMap(({ alarms }) => alarms())).toEqual([])
  })
})
