import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runOnSmallDisk } from '../../../test/fixtures/processes/small-disk.ts'
import { mountRequirement } from '../../../test/fixtures/requirements/mount-namespace.ts'
import { needs } from '../../../test/fixtures/requirements/needs.ts'

const TIMEOUT_MS = 60_000
const fixture = join(import.meta.dirname, 'no-space.fixture.ts')

/** Runs a scenario of the fixture on a small disk, and returns its summary. */
const run = async (scenario: string) =>
  JSON.parse(await runOnSmallDisk('4m', [fixture, scenario], TIMEOUT_MS))

describe('a disk without a free byte', {
  ...needs(mountRequirement),
  timeout: TIMEOUT_MS + 10_000,
}, () => {
  it('gets space from the next recordings if the oldest one is still being played', async () => {
    const { free, fileBytes, range } = await run('played')
    expect(free).toBeGreaterThan(800_000)
    expect(fileBytes).toBeGreaterThan(0)
    expect(range.bytes).toBe(fileBytes)
  })

  it('gets space although the limits of a source cannot be stored before', async () => {
    const { free, fileBytes, range } = await run('configured')
    expect(free).toBeGreaterThan(800_000)
    expect(fileBytes).toBeGreaterThan(0)
    expect(range.bytes).toBe(fileBytes)
  })

  it('does not prevent the later deletion of a segment that is completed on it', async () => {
    const { range, files } = await run('completed')
    expect(range.to).toBe('2026-01-01T00:21:00.000Z')
    expect(files).toEqual([])
  })

  it('gets space when the index is opened, which keeps its content', async () => {
    const { fileBytes, range } = await run('opened')
    expect(fileBytes).toBe(500_000)
    expect(range).toMatchObject({ bytes: 500_000, to: '2026-01-01T00:20:00.000Z' })
  })

  it('gets space when the index is opened after a crash', async () => {
    const { free, fileBytes, range } = await run('crashed')
    expect(free).toBeGreaterThan(800_000)
    expect(fileBytes).toBeGreaterThan(0)
    expect(range.bytes).toBe(fileBytes)
  })

  it('is reported while other files fill it, until they are deleted', async () => {
    const { refusal, alarms } = await run('occupied')
    expect(refusal).toMatch(/^ENOSPC: the disk of .* is full/)
    expect(alarms).toEqual([expect.stringContaining('is full')])
  })
})
