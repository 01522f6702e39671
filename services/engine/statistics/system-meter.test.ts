import { systemStatistics } from '@eyrie/contract'
import { describe, expect, test } from 'vitest'
import { computeBusyPercent, createSystemMeter, parseMemoryInUse } from './system-meter.ts'

describe('system statistics', () => {
  test('describe this machine in the format of the contract', async () => {
    const meter = createSystemMeter()
    const read = await meter.read()
    meter.stop()
    expect(systemStatistics.safeParse(read).error).toBeUndefined()
    expect(read.mem_physical).toBeGreaterThan(1 << 20)
  })

  test('report the busy share of all cores', () => {
    expect(computeBusyPercent({ busy: 1000, total: 10_000 }, { busy: 1500, total: 12_000 })).toBe(
      25,
    )
    expect(computeBusyPercent({ busy: 1000, total: 10_000 }, { busy: 1000, total: 10_000 })).toBe(0)
  })

  test('do not count reclaimable memory as used', () => {
    const meminfo = `MemTotal:       1000 kB
MemFree:         100 kB
MemAvailable:    600 kB
SwapTotal:       500 kB
SwapFree:        300 kB
`
    expect(parseMemoryInUse(meminfo)).toEqual({ mem_physical: 400 * 1024, mem_virtual: 600 * 1024 })
  })
})
