import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLog } from '@eyrie/kit/log'
import { describe, expect, it, vi } from 'vitest'
import { createTemporaryFolder } from '../../../../test/fixtures/temporary-folder.ts'
import { openPluginQuarantine } from './plugin-quarantine.ts'

const probe = { plugin: 'probe', version: '1.0.0', channel: 3 }

function createQuarantine() {
  const file = join(createTemporaryFolder(), 'quarantine.json')
  let time = Date.UTC(2026, 4, 4)
  const log = createLog('test', 'silent')
  const open = () => openPluginQuarantine({ file, log, now: () => new Date(time) })
  function wait(seconds: number): void {
    time += seconds * 1000
  }
  return { file, open, log, wait }
}

describe('plugin quarantine', () => {
  it('begins with the third crash within a minute, on the channel where it crashed', () => {
    const { open, wait } = createQuarantine()
    const quarantine = open()
    expect(quarantine.addCrash(probe, 'first')).toBe(false)
    wait(20)
    expect(quarantine.addCrash({ ...probe, channel: 4 }, 'elsewhere')).toBe(false)
    expect(quarantine.addCrash({ ...probe, version: '2.0.0' }, 'another version')).toBe(false)
    expect(quarantine.addCrash(probe, 'second')).toBe(false)
    wait(39)
    expect(quarantine.addCrash(probe, 'third')).toBe(true)
    expect(quarantine.list()).toEqual([
      { ...probe, reason: 'third', time: '2026-05-04T00:00:59.000Z' },
    ])
    expect(quarantine.find(probe)?.reason).toBe('third')
    expect(quarantine.find({ ...probe, channel: 4 })).toBeUndefined()
  })

  it('does not begin when crashes are rare', () => {
    const { open, wait } = createQuarantine()
    const quarantine = open()
    for (let crash = 0; crash < 10; crash += 1) {
      expect(quarantine.addCrash(probe, 'again')).toBe(false)
      wait(31)
    }
  })

  it('survives restarts until it is released', () => {
    const { open } = createQuarantine()
    const quarantine = open()
    for (const reason of ['a', 'b', 'c']) quarantine.addCrash(probe, reason)
    expect(open().find(probe)).toBeDefined()
    expect(open().release('other')).toEqual([])
    expect(open().release('probe', '2.0.0')).toEqual([])
    expect(open().release('probe')).toMatchObject([{ channel: 3 }])
    expect(open().list()).toEqual([])
  })

  it('begins, and is logged, even if the disk is full, but is not released then', () => {
    const { open, file, log } = createQuarantine()
    const error = vi.spyOn(log, 'error')
    const quarantine = open()
    const fillDisk = () => symlinkSync('/dev/full', `${file}.new`)
    fillDisk()
    for (const reason of ['a', 'b', 'c']) quarantine.addCrash(probe, reason)
    expect(quarantine.find(probe)).toBeDefined()
    expect(error).toHaveBeenCalledExactlyOnceWith(
      { file, reason: expect.stringContaining('ENOSPC') },
      expect.stringContaining('failed to store a quarantine'),
    )
    fillDisk()
    expect(() => quarantine.release('probe')).toThrow('ENOSPC')
    expect(quarantine.find(probe)).toBeDefined()

    // Each failed write has deleted its temporary file.
    expect(quarantine.release('probe')).toMatchObject([probe])
    expect(quarantine.find(probe)).toBeUndefined()
  })

  it('is empty if its file is damaged, and this is logged', () => {
    const { open, file, log } = createQuarantine()
    const error = vi.spyOn(log, 'error')
    expect(open().list()).toEqual([])
    expect(error).not.toHaveBeenCalled()
    writeFileSync(file, '{')
    expect(open().list()).toEqual([])
    expect(error).toHaveBeenCalledExactlyOnceWith(
      { file, reason: expect.stringContaining('JSON') },
      expect.stringContaining('failed to read the quarantines'),
    )
  })
})
